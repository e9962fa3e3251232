package dev.idem.broker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Message;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MessageReaderTest {
    private static final Map<String, String> DELIVERY =
            Map.of("x-id", "of-the-header", "key", "k-1", "sent", "1970-01-01T00:00:07Z", "idem-failures", "9");

    private static MessageReader<Map<String, String>> reader() {
        return MessageReader.of(delivery -> {
            Message.Builder raw = Message.builder().payload(new byte[] {1});
            delivery.forEach(raw::header);
            return new MessageReader.Delivered(raw.build(), new Attributes.Broker("of-the-broker", null, null, null));
        });
    }

    @Test
    void everyAttributeCanBeTakenByAFunctionOfTheWholeDelivery() {
        Message message = reader().idFrom(d -> "id " + d.get("key"))
                .sourceFrom(d -> "source " + d.get("key"))
                .typeFrom(d -> "type " + d.get("key"))
                .versionFrom(d -> "version " + d.get("key"))
                .orderingKeyFrom(d -> "order " + d.get("key"))
                .timeFrom(d -> Instant.parse(d.get("sent")))
                .read(DELIVERY);
        assertThat(message.id()).contains("id k-1");
        assertThat(message.source()).contains("source k-1");
        assertThat(message.type()).contains("type k-1");
        assertThat(message.version()).contains("version k-1");
        assertThat(message.orderingKey()).contains("order k-1");
        assertThat(message.eventTime()).contains(Instant.ofEpochSecond(7));
    }

    @Test
    void aFunctionComesBeforeHeadersAndTheseBeforeTheBroker() {
        Attributes named = Attributes.defaults().idFrom("x-id");
        assertThat(reader().read(DELIVERY).id()).contains("of-the-broker");
        assertThat(reader().attributes(named).read(DELIVERY).id()).contains("of-the-header");
        assertThat(reader().idFrom(d -> "of-the-function")
                        .attributes(named)
                        .read(DELIVERY)
                        .id())
                .contains("of-the-function");
        assertThat(reader().attributes(named).idFrom(d -> null).read(DELIVERY).id())
                .contains("of-the-header");
    }

    @Test
    void afterAFunctionThatThrowsTheAttributeIsAbsent() {
        Message message = reader().idFrom(d -> {
                    throw new IllegalStateException("secret");
                })
                .typeFrom(d -> "t")
                .read(DELIVERY);
        assertThat(message.id()).isEmpty();
        assertThat(message.type()).contains("t");
    }

    @Test
    void onlyALetterKeepsOurHeaders() {
        assertThat(reader().read(DELIVERY).header("idem-failures")).isEmpty();
        assertThat(reader().read(DELIVERY).header("key")).contains("k-1");
        assertThat(reader().readLetter(DELIVERY).header("idem-failures")).contains("9");
        assertThat(reader().idFrom(d -> "x").readLetter(DELIVERY).id()).contains("x");
        assertThat(reader().raw(DELIVERY).headers()).hasSize(4);
    }
}
