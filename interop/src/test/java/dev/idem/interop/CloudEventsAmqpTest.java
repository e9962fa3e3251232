package dev.idem.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Message;
import dev.idem.jms.JmsInbox;
import dev.idem.jms.JmsInboxListener;
import io.cloudevents.CloudEvent;
import io.cloudevents.amqp.ProtonAmqpMessageFactory;
import io.cloudevents.core.builder.CloudEventBuilder;
import io.cloudevents.jackson.JsonFormat;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.apache.qpid.protonj2.client.Client;
import org.apache.qpid.protonj2.client.Connection;
import org.apache.qpid.protonj2.client.StreamSender;
import org.apache.qpid.protonj2.client.StreamSenderMessage;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the AMQP binding of the CloudEvents SDK makes of events, sent as it is to a real broker. */
class CloudEventsAmqpTest {
    private static final Instant AT = Instant.parse("2026-01-02T03:04:05.678Z");

    private final String queue = "interop-" + UUID.randomUUID();

    private static CloudEvent event(String source) {
        return CloudEventBuilder.v1()
                .withId("e-1")
                .withSource(URI.create(source))
                .withType("order.placed")
                .withTime(OffsetDateTime.parse(AT.toString()))
                .withData("application/json", "{\"amount\":1.10}".getBytes(StandardCharsets.UTF_8))
                .withExtension("partitionkey", "customer-7")
                .withExtension("correlationid", "c-1")
                .withExtension("causationid", "order-0")
                .build();
    }

    private static byte[] bytes(CloudEvent event, boolean structured) {
        var writer = ProtonAmqpMessageFactory.createWriter();
        var message = structured ? writer.writeStructured(event, new JsonFormat()) : writer.writeBinary(event);
        byte[] space = new byte[8_192];
        return Arrays.copyOf(space, message.encode(space, 0, space.length));
    }

    private void send(AmqpBroker broker, List<byte[]> messages) throws Exception {
        try (Client client = Client.create();
                Connection connection = client.connect("127.0.0.1", broker.port());
                StreamSender sender = connection.openStreamSender(queue)) {
            for (byte[] bytes : messages) {
                StreamSenderMessage message = sender.beginMessage();
                try (OutputStream out = message.rawOutputStream()) {
                    out.write(bytes);
                }
                message.tracker().settlementFuture().get();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("KY-02 events of the SDK, binary and structured, are known by id and source, with extensions")
    void sdk(AmqpBroker.With with) throws Exception {
        Taking taking = new Taking();
        try (AmqpBroker broker = AmqpBroker.start()) {
            send(
                    broker,
                    List.of(
                            bytes(event("/binary"), false),
                            bytes(event("/structured"), true),
                            bytes(event("/binary"), false),
                            bytes(event("/last"), false)));
            try (JmsInboxListener listener =
                    JmsInbox.listen(broker.factory(with), queue, taking.everything(), taking.inbox)) {
                assertThat(taking.await(3))
                        .extracting(message -> message.source().orElse("none"))
                        .containsExactly("/binary", "/structured", "/last");
                Taking.until(() -> listener.pending() == 0);
            }
            for (Message message : taking.seen) {
                String source = message.source().orElseThrow();
                assertThat(message.id()).as(source).contains("e-1");
                assertThat(message.type()).as(source).contains("order.placed");
                assertThat(message.eventTime()).as(source).contains(AT);
                assertThat(message.contentType()).as(source).contains("application/json");
                assertThat(message.orderingKey()).as(source).contains("customer-7");
                assertThat(message.correlationId()).as(source).contains("c-1");
                assertThat(message.causationId()).as(source).contains("order-0");
                assertThat(Taking.payload(message)).as(source).isEqualTo("{\"amount\":1.10}");
            }
        } finally {
            taking.inbox.close();
        }
    }
}
