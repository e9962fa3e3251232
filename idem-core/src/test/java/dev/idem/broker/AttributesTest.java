package dev.idem.broker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Message;
import java.time.Instant;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class AttributesTest {
    private static final Instant AT = Instant.parse("2026-01-02T03:04:05Z");
    private static final Attributes.Broker BROKER = new Attributes.Broker("of-broker", "broker-type", "broker-key", AT);

    private static Message.Builder cloudEvent() {
        return Message.builder()
                .header("ce_id", "of-event")
                .header("ce_source", "/shop")
                .header("ce_type", "order.placed");
    }

    @Test
    void aNamedHeaderThenTheEventThenTheBroker() {
        Message raw = cloudEvent()
                .header("x-id", "of-header")
                .header("x-version", "2")
                .build();
        Message named =
                Attributes.defaults().idFrom("x-id").versionFrom("x-version").read(raw, BROKER);
        assertThat(named.id()).contains("of-header");
        assertThat(named.version()).contains("2");
        assertThat(Attributes.defaults().read(raw, BROKER).id()).contains("of-event");
        assertThat(Attributes.defaults().read(raw, BROKER).source()).contains("/shop");
        Message plain = Attributes.defaults().read(Message.builder().build(), BROKER);
        assertThat(plain.id()).contains("of-broker");
        assertThat(plain.type()).contains("broker-type");
        assertThat(plain.orderingKey()).contains("broker-key");
        assertThat(plain.eventTime()).contains(AT);
    }

    @Test
    @DisplayName("KF-12 an id that stands twice, or is not text, is none")
    void oneIdOrNone() {
        Attributes attributes = Attributes.defaults().idFrom("x-id");
        Attributes.Broker nothing = new Attributes.Broker(null, null, null, null);
        Message twice =
                Message.builder().header("x-id", "1").header("x-id", "2").build();
        assertThat(attributes.read(twice, nothing).id()).isEmpty();
        Message bytes =
                Message.builder().header("x-id", new byte[] {(byte) 0xc3, 0x28}).build();
        assertThat(attributes.read(bytes, nothing).id()).isEmpty();
    }

    @Test
    void timesInBothForms() {
        Attributes attributes = Attributes.defaults().timeFrom("t");
        assertThat(attributes
                        .read(
                                Message.builder()
                                        .header("t", "2026-01-02T03:04:05Z")
                                        .build(),
                                BROKER)
                        .eventTime())
                .contains(AT);
        assertThat(attributes
                        .read(
                                Message.builder()
                                        .header("t", AT.toEpochMilli() + "")
                                        .build(),
                                BROKER)
                        .eventTime())
                .contains(AT);
        assertThat(attributes
                        .read(Message.builder().header("t", "soon").build(), BROKER)
                        .eventTime())
                .as("the broker's")
                .contains(AT);
    }

    @Test
    void structuredEventsWithAReader() {
        StructuredEvents reader = new StructuredEvents() {
            @Override
            public boolean understands(String contentType) {
                return contentType.equals("application/cloudevents+json");
            }

            @Override
            public Message read(Message message) {
                if (message.payload().length == 0) {
                    throw new IllegalArgumentException("not an event");
                }
                return message.toBuilder().id("inside").build();
            }
        };
        Attributes attributes = Attributes.defaults().structured(reader);
        Message.Builder event = Message.builder().contentType("application/cloudevents+json");
        assertThat(attributes
                        .read(event.payload(new byte[] {1}).build(), BROKER)
                        .id())
                .contains("inside");
        assertThat(attributes
                        .read(event.payload(new byte[0]).build(), new Attributes.Broker(null, null, null, null))
                        .id())
                .isEmpty();
    }
}
