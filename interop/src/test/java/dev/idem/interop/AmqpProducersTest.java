package dev.idem.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Message;
import dev.idem.RetryPolicy;
import dev.idem.TerminalException;
import dev.idem.broker.Attributes;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.DeliveryHeaders;
import dev.idem.jms.JmsDeadLetters;
import dev.idem.jms.JmsInbox;
import dev.idem.jms.JmsInboxListener;
import io.cloudevents.core.builder.CloudEventBuilder;
import io.cloudevents.jackson.JsonFormat;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Date;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.qpid.protonj2.client.Client;
import org.apache.qpid.protonj2.client.Connection;
import org.apache.qpid.protonj2.client.Sender;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Producers that speak AMQP 1.0 and not Jakarta Messaging, on a real broker: what the CloudEvents binding allows, and its SDK does
 * not write, sent with Apache Qpid's client. For the SDK see {@link CloudEventsAmqpTest}.
 */
class AmqpProducersTest {
    private static final Instant AT = Instant.parse("2026-01-02T03:04:05.678Z");
    private static AmqpBroker broker;

    private final String queue = "interop-" + UUID.randomUUID();
    private final Taking taking = new Taking();
    private JmsInboxListener listener;

    @BeforeAll
    static void start() throws Exception {
        broker = AmqpBroker.start();
    }

    @AfterAll
    static void stop() throws Exception {
        broker.close();
    }

    @AfterEach
    void close() {
        listener.close();
        taking.inbox.close();
    }

    @FunctionalInterface
    private interface Making {
        org.apache.qpid.protonj2.client.Message<byte[]> made() throws Exception;
    }

    private void send(Making... messages) throws Exception {
        try (Client client = Client.create();
                Connection connection = client.connect("127.0.0.1", broker.port());
                Sender sender = connection.openSender(queue)) {
            for (Making message : messages) {
                sender.send(message.made()).settlementFuture().get();
            }
        }
    }

    private static Making structured(String source) {
        byte[] event = new JsonFormat()
                .serialize(CloudEventBuilder.v1()
                        .withId("e-1")
                        .withSource(URI.create(source))
                        .withType("order.placed")
                        .withTime(OffsetDateTime.parse(AT.toString()))
                        .withData("application/json", "{\"amount\":1.10}".getBytes(StandardCharsets.UTF_8))
                        .build());
        return () -> org.apache.qpid.protonj2.client.Message.create(event)
                .contentType("application/cloudevents+json; charset=utf-8")
                .correlationId("c-1")
                .priority((byte) 7)
                .timeToLive(600_000);
    }

    private static Making binary(String source, Object time) {
        return () -> org.apache.qpid.protonj2.client.Message.create("{}".getBytes(StandardCharsets.UTF_8))
                .contentType("application/json")
                .property("cloudEvents:specversion", "1.0")
                .property("cloudEvents:id", "e-1")
                .property("cloudEvents:source", source)
                .property("cloudEvents:type", "order.placed")
                .property("cloudEvents:time", time);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("KY-02 one id of three sources, structured and binary, with a timestamp of AMQP, is three messages")
    void cloudEvents(AmqpBroker.With client) throws Exception {
        // Artemis cannot give its own client a message with a timestamp among its properties.
        Object time = client == AmqpBroker.With.QPID ? new Date(AT.toEpochMilli()) : AT.toString();
        send(structured("/a"), binary("/b", time), binary("/c", AT.toString()), structured("/a"));
        send(binary("/last", AT.toString()));
        listener = JmsInbox.listen(broker.factory(client), queue, taking.everything(), taking.inbox);
        assertThat(taking.await(4))
                .extracting(message -> message.source().orElse("none"))
                .containsExactly("/a", "/b", "/c", "/last");
        for (Message message : taking.seen) {
            assertThat(message.id()).contains("e-1");
            assertThat(message.type()).contains("order.placed");
            assertThat(message.eventTime()).as(message.source().orElse("")).contains(AT);
            assertThat(message.contentType()).contains("application/json");
        }
        Message structured = taking.seen.get(0);
        assertThat(Taking.payload(structured)).isEqualTo("{\"amount\":1.10}");
        assertThat(structured.correlationId()).contains("c-1");
        assertThat(structured.header(DeliveryHeaders.QUEUE)).contains(queue);
        assertThat(structured.header(DeliveryHeaders.PRIORITY)).contains("7");
        assertThat(structured.header(DeliveryHeaders.EXPIRES)).isPresent();
    }

    @ParameterizedTest
    @EnumSource
    void anEventStaysWhatItWasInRetriesAndLetters(AmqpBroker.With client) throws Exception {
        send(structured("/a"));
        AtomicInteger runs = new AtomicInteger();
        listener = JmsInbox.builder(
                        broker.factory(client),
                        queue,
                        taking.everything(message -> {
                            if (runs.incrementAndGet() == 1) {
                                throw new IllegalStateException("comes again, as a copy");
                            }
                            throw new TerminalException("set aside", null);
                        }),
                        taking.inbox)
                .retry(RetryPolicy.fixed(Duration.ofMillis(50)).withMaxAttempts(5))
                .listen();
        taking.await(2);
        Taking.until(() -> listener.pending() == 0);
        Message letter;
        try (DeadLetters letters =
                JmsDeadLetters.open(broker.factory(client), queue + ".dead-letters", Attributes.defaults())) {
            letter = letters.next().orElseThrow().message();
        }
        Message first = taking.seen.get(0);
        for (Message copy : new Message[] {taking.seen.get(1), letter}) {
            assertThat(copy.id()).contains("e-1");
            assertThat(copy.source()).contains("/a");
            assertThat(copy.payload()).isEqualTo(first.payload());
            assertThat(copy.correlationId()).contains("c-1");
            for (String header :
                    new String[] {DeliveryHeaders.QUEUE, DeliveryHeaders.PRIORITY, DeliveryHeaders.EXPIRES}) {
                assertThat(copy.header(header)).as(header).isPresent().isEqualTo(first.header(header));
            }
        }
    }
}
