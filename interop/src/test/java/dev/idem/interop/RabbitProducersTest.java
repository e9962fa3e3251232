package dev.idem.interop;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import dev.idem.Message;
import dev.idem.RetryPolicy;
import dev.idem.TerminalException;
import dev.idem.broker.Attributes;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.DeliveryHeaders;
import dev.idem.broker.LetterFilter;
import dev.idem.broker.LetterReplay;
import dev.idem.rabbitmq.RabbitDeadLetters;
import dev.idem.rabbitmq.RabbitInbox;
import dev.idem.rabbitmq.RabbitInboxListener;
import dev.idem.servers.RabbitServer;
import dev.idem.servers.SkipWithoutServer;
import io.cloudevents.core.builder.CloudEventBuilder;
import io.cloudevents.jackson.JsonFormat;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.amqp.support.converter.JacksonJsonMessageConverter;

/** Other producers on RabbitMQ: Spring's own template, the CloudEvents SDK's format, and the wire formats of .NET's libraries. */
@ExtendWith(SkipWithoutServer.class)
class RabbitProducersTest {
    private static final List<String> HOW = List.of(
            DeliveryHeaders.EXCHANGE,
            DeliveryHeaders.ROUTING_KEY,
            DeliveryHeaders.QUEUE,
            DeliveryHeaders.PRIORITY,
            DeliveryHeaders.TIME_TO_LIVE);

    /** An order, as a producer has it. */
    public record Order(String number, int amount) {}

    private final String queue = "interop-" + UUID.randomUUID();
    private final ConnectionFactory factory = new ConnectionFactory();
    private final Taking taking = new Taking();
    private RabbitInboxListener listener;

    @BeforeEach
    void queue() throws Exception {
        factory.setHost(RabbitServer.shared().host());
        factory.setPort(RabbitServer.shared().port());
        try (Connection connection = factory.newConnection();
                var channel = connection.createChannel()) {
            channel.exchangeDeclare(queue + ".x", "topic", false, true, null);
            channel.queueDeclare(queue, true, false, false, null);
            channel.queueBind(queue, queue + ".x", "orders.#");
        }
    }

    @AfterEach
    void close() throws Exception {
        listener.close();
        taking.inbox.close();
        try (Connection connection = factory.newConnection();
                var channel = connection.createChannel()) {
            channel.queueDelete(queue);
            channel.queueDelete(queue + ".dead-letters");
        }
    }

    private void send(BasicProperties properties, String body) throws Exception {
        try (Connection connection = factory.newConnection();
                var channel = connection.createChannel()) {
            channel.confirmSelect();
            channel.basicPublish("", queue, true, properties, body.getBytes(StandardCharsets.UTF_8));
            channel.waitForConfirmsOrDie(30_000);
        }
    }

    private void listen(Attributes attributes) {
        listener = RabbitInbox.builder(factory, queue, taking.everything(), taking.inbox)
                .attributes(attributes)
                .listen();
    }

    @Test
    void whatSpringSendsIsKnownAndStaysWhatItWasInRetriesLettersAndReplays() {
        var connections = new CachingConnectionFactory(factory);
        RabbitTemplate template = new RabbitTemplate(connections);
        JacksonJsonMessageConverter json = new JacksonJsonMessageConverter();
        json.setCreateMessageIds(true);
        template.setMessageConverter(json);
        template.convertAndSend(queue + ".x", "orders.eu", new Order("7", 12), message -> {
            message.getMessageProperties().setCorrelationId("c-1");
            message.getMessageProperties().setPriority(3);
            message.getMessageProperties().setExpiration("600000");
            return message;
        });
        connections.destroy();
        AtomicInteger runs = new AtomicInteger();
        listener = RabbitInbox.builder(
                        factory,
                        queue,
                        taking.everything(message -> {
                            int run = runs.incrementAndGet();
                            if (run == 1) {
                                throw new IllegalStateException("comes again, as a copy");
                            } else if (run == 2) {
                                throw new TerminalException("set aside", null);
                            }
                        }),
                        taking.inbox)
                .retry(RetryPolicy.fixed(Duration.ofSeconds(1)).withMaxAttempts(5))
                .listen();
        taking.await(2);
        Taking.until(() -> listener.pending() == 0);
        try (DeadLetters letters = RabbitDeadLetters.open(factory, queue + ".dead-letters")) {
            Message letter = letters.next().orElseThrow().message();
            assertThat(how(letter)).isEqualTo(how(taking.seen.get(0)));
            assertThat(letter.correlationId()).contains("c-1");
        }
        try (DeadLetters letters = RabbitDeadLetters.open(factory, queue + ".dead-letters")) {
            var report = LetterReplay.of(LetterFilter.all())
                    .as("anna", "it works now", (consumer, action, actor, why, what) -> {})
                    .run(letters, progress -> {});
            assertThat(report.sent()).isEqualTo(1);
        }
        for (Message message : taking.await(3)) {
            assertThat(message.id()).isPresent().isEqualTo(taking.seen.get(0).id());
            assertThat(message.type()).contains(Order.class.getName());
            assertThat(message.contentType().orElse("")).startsWith("application/json");
            assertThat(message.correlationId()).contains("c-1");
            assertThat(how(message))
                    .isEqualTo(Map.of(
                            DeliveryHeaders.EXCHANGE, queue + ".x",
                            DeliveryHeaders.ROUTING_KEY, "orders.eu",
                            DeliveryHeaders.QUEUE, queue,
                            DeliveryHeaders.PRIORITY, "3",
                            DeliveryHeaders.TIME_TO_LIVE, "600000"));
        }
    }

    private static Map<String, String> how(Message message) {
        Map<String, String> how = new HashMap<>();
        HOW.forEach(name -> message.header(name).ifPresent(text -> how.put(name, text)));
        return how;
    }

    @Test
    @DisplayName(
            "KY-02 one id of three sources, in both modes of CloudEvents and with both prefixes, is three messages")
    void cloudEvents() throws Exception {
        var event = CloudEventBuilder.v1().withId("e-1").withType("order.placed");
        byte[] structured = new JsonFormat()
                .serialize(event.withSource(URI.create("/structured"))
                        .withData("application/json", "{}".getBytes(StandardCharsets.UTF_8))
                        .build());
        send(
                new BasicProperties.Builder()
                        .contentType(JsonFormat.CONTENT_TYPE + "; charset=utf-8")
                        .build(),
                new String(structured, StandardCharsets.UTF_8));
        for (String prefix : List.of("cloudEvents:", "cloudEvents_")) {
            Map<String, Object> headers = Map.of(
                    prefix + "specversion", "1.0",
                    prefix + "id", "e-1",
                    prefix + "source", "/" + prefix,
                    prefix + "type", "order.placed",
                    prefix + "time", new Date(1_000));
            send(new BasicProperties.Builder().headers(headers).build(), "{}");
        }
        listen(Attributes.defaults());
        List<Message> seen = taking.await(3);
        assertThat(seen)
                .extracting(message -> message.source().orElse("none"))
                .containsExactly("/structured", "/cloudEvents:", "/cloudEvents_");
        assertThat(seen).allSatisfy(message -> assertThat(message.type()).contains("order.placed"));
        assertThat(seen.get(1).eventTime()).contains(Instant.ofEpochSecond(1));
    }

    @Test
    void massTransit() throws Exception {
        String envelope = """
                {
                  "messageId": "181c0000-6393-3630-36a4-08daf4e7c6da",
                  "requestId": null,
                  "correlationId": null,
                  "conversationId": "c-1",
                  "initiatorId": "c-0",
                  "sourceAddress": "rabbitmq://localhost/sales?durable=true",
                  "destinationAddress": "rabbitmq://localhost/Shop:OrderPlaced",
                  "messageType": ["urn:message:Shop:OrderPlaced", "urn:message:Shop:Event"],
                  "message": {"number": "7", "amount": 1.10},
                  "expirationTime": null,
                  "sentTime": "2026-01-02T03:04:05.678901Z",
                  "headers": {"tenant": "acme", "idem-tombstone": "forged"},
                  "host": {"machineName": "m", "processName": "dotnet", "assembly": "Sales"}
                }
                """;
        send(
                new BasicProperties.Builder()
                        .contentType("application/vnd.masstransit+json")
                        .messageId("181c0000-6393-3630-36a4-08daf4e7c6da")
                        .build(),
                envelope);
        // region interop-masstransit
        Attributes attributes = Attributes.massTransit();
        // endregion
        listen(attributes);
        Message message = taking.await(1).get(0);
        assertThat(message.id()).contains("181c0000-6393-3630-36a4-08daf4e7c6da");
        assertThat(message.type()).contains("urn:message:Shop:OrderPlaced");
        assertThat(message.source()).contains("rabbitmq://localhost/sales");
        assertThat(message.eventTime()).contains(Instant.parse("2026-01-02T03:04:05.678901Z"));
        assertThat(message.correlationId()).contains("c-1");
        assertThat(message.causationId()).contains("c-0");
        assertThat(message.header("tenant")).contains("acme");
        assertThat(message.header(DeliveryHeaders.TOMBSTONE)).isEmpty();
        assertThat(Taking.payload(message)).isEqualTo("{\"number\":\"7\",\"amount\":1.10}");
    }

    @Test
    void nServiceBus() throws Exception {
        Map<String, Object> headers = Map.of(
                "NServiceBus.MessageId", "6f2a0a5c-5b0e-4f4e-9a43-b1a700c5c0de",
                "NServiceBus.EnclosedMessageTypes",
                        "Sales.OrderPlaced, Sales.Messages, Version=1.0.0.0, Culture=neutral, PublicKeyToken=null",
                "NServiceBus.OriginatingEndpoint", "Sales",
                "NServiceBus.TimeSent", "2026-01-02 03:04:05:678901 Z",
                "NServiceBus.ConversationId", "c-1",
                "NServiceBus.RelatedTo", "c-0");
        send(new BasicProperties.Builder().headers(headers).build(), "{}");
        listen(Attributes.defaults());
        Message message = taking.await(1).get(0);
        assertThat(message.id()).contains("6f2a0a5c-5b0e-4f4e-9a43-b1a700c5c0de");
        assertThat(message.type()).contains("Sales.OrderPlaced");
        assertThat(message.source()).contains("Sales");
        assertThat(message.eventTime()).contains(Instant.parse("2026-01-02T03:04:05.678901Z"));
        assertThat(message.correlationId()).contains("c-1");
        assertThat(message.causationId()).isEqualTo(Optional.of("c-0"));
    }
}
