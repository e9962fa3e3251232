package dev.idem.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.PayloadDecoder;
import dev.idem.TerminalException;
import dev.idem.broker.Attributes;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.DeliveryHeaders;
import dev.idem.kafka.KafkaDeadLetters;
import dev.idem.kafka.KafkaInbox;
import dev.idem.kafka.KafkaInboxListener;
import dev.idem.servers.KafkaServer;
import io.cloudevents.CloudEvent;
import io.cloudevents.core.builder.CloudEventBuilder;
import io.cloudevents.core.message.Encoding;
import io.cloudevents.jackson.JsonFormat;
import io.cloudevents.kafka.CloudEventSerializer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.support.JsonKafkaHeaderMapper;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.converter.MessagingMessageConverter;
import org.springframework.kafka.support.serializer.JacksonJsonSerializer;
import org.springframework.messaging.support.MessageBuilder;

/** The real libraries of other producers, on a real broker. */
class KafkaProducersTest {
    private static final Instant AT = Instant.parse("2026-01-02T03:04:05.678Z");

    /** An order, as a producer has it. */
    public record Order(String number, int amount) {}

    private final String topic = "interop-" + UUID.randomUUID();
    private final Taking taking = new Taking();
    private KafkaInboxListener listener;

    @BeforeEach
    void topic() throws Exception {
        try (Admin admin = Admin.create(client())) {
            admin.createTopics(List.of(new NewTopic(topic, Optional.of(1), Optional.empty())))
                    .all()
                    .get();
        }
    }

    @AfterEach
    void close() {
        listener.close();
        taking.inbox.close();
    }

    private static Map<String, Object> client() {
        return Map.of("bootstrap.servers", KafkaServer.shared().address());
    }

    private void listen(Consumer consumer, Attributes attributes) {
        Map<String, Object> config = new HashMap<>(client());
        config.put("group.id", topic);
        listener = KafkaInbox.builder(config, List.of(topic), consumer, taking.inbox)
                .attributes(attributes)
                .listen();
    }

    private static CloudEvent event(String source) {
        return CloudEventBuilder.v1()
                .withId("e-1")
                .withSource(URI.create(source))
                .withType("order.placed")
                .withTime(OffsetDateTime.parse(AT.toString()))
                .withData("application/json", "{\"amount\":1.10}".getBytes(StandardCharsets.UTF_8))
                .withExtension("partitionkey", "customer-7")
                .withExtension("correlationid", "c-1")
                .withExtension("causationid", "c-0")
                .build();
    }

    private void send(CloudEvent event, Encoding encoding) throws Exception {
        CloudEventSerializer serializer = new CloudEventSerializer();
        serializer.configure(
                Map.of(
                        CloudEventSerializer.ENCODING_CONFIG,
                        encoding,
                        CloudEventSerializer.EVENT_FORMAT_CONFIG,
                        JsonFormat.CONTENT_TYPE),
                false);
        send(serializer, new ProducerRecord<>(topic, "k", event));
    }

    private <V> void send(Serializer<V> serializer, ProducerRecord<String, V> record) throws Exception {
        try (Producer<String, V> producer = new KafkaProducer<>(client(), new StringSerializer(), serializer)) {
            producer.send(record).get();
        }
    }

    private void send(ProducerRecord<byte[], byte[]> record) throws Exception {
        try (Producer<byte[], byte[]> producer =
                new KafkaProducer<>(client(), new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.send(record).get();
        }
    }

    @Test
    void anEventOfTheCloudEventsSdkIsTheSameInBothModes() throws Exception {
        send(event("/shop"), Encoding.STRUCTURED);
        send(event("/shop"), Encoding.BINARY);
        send(event("/last"), Encoding.STRUCTURED);
        listen(taking.everything(), Attributes.defaults());
        List<Message> seen = taking.await(2);
        assertThat(seen).extracting(message -> message.source().orElse("none")).containsExactly("/shop", "/last");
        for (Message message : seen) {
            assertThat(message.id()).contains("e-1");
            assertThat(message.type()).contains("order.placed");
            assertThat(message.eventTime()).contains(AT);
            assertThat(message.orderingKey()).contains("customer-7");
            assertThat(message.correlationId()).contains("c-1");
            assertThat(message.causationId()).contains("c-0");
            assertThat(message.contentType()).contains("application/json");
            assertThat(Taking.payload(message)).as("no digit is lost").isEqualTo("{\"amount\":1.10}");
            assertThat(message.header(DeliveryHeaders.TOPIC)).contains(topic);
        }
    }

    @Test
    @DisplayName("KY-02 three sources that use one id make three messages")
    void sourcesMayUseOneId() throws Exception {
        for (String source : List.of("/a", "/b", "/c", "/a")) {
            send(event(source), Encoding.BINARY);
        }
        send(event("/last"), Encoding.BINARY);
        // region interop-cloudevents
        Attributes attributes = Attributes.cloudEvents();
        // endregion
        listen(taking.everything(), attributes);
        assertThat(taking.await(4))
                .extracting(message -> message.source().orElse("none"))
                .containsExactly("/a", "/b", "/c", "/last");
    }

    @Test
    void whatSpringWritesAsJsonHasNoQuotes() {
        UUID id = UUID.randomUUID();
        var factory = new DefaultKafkaProducerFactory<String, Object>(
                client(), new StringSerializer(), new JacksonJsonSerializer<>());
        KafkaTemplate<String, Object> template = new KafkaTemplate<>(factory);
        var message = MessageBuilder.<Object>withPayload(new Order("7", 12))
                .setHeader(KafkaHeaders.TOPIC, topic)
                .setHeader(KafkaHeaders.KEY, "customer-7")
                .setHeader("messageId", id)
                .setHeader("correlationId", "c-1")
                .build();
        template.send(message).join();
        JsonKafkaHeaderMapper mapper = new JsonKafkaHeaderMapper();
        mapper.setEncodeStrings(true);
        MessagingMessageConverter quoting = new MessagingMessageConverter();
        quoting.setHeaderMapper(mapper);
        template.setMessageConverter(quoting);
        template.send(MessageBuilder.fromMessage(message)
                        .setHeader("messageId", "text")
                        .build())
                .join();
        factory.destroy();
        // region interop-spring
        Attributes attributes = Attributes.spring().idFrom("messageId");
        // endregion
        listen(taking.everything(), attributes);
        List<Message> seen = taking.await(2);
        assertThat(seen).extracting(each -> each.id().orElse("none")).containsExactly(id.toString(), "text");
        for (Message each : seen) {
            assertThat(each.type()).contains(Order.class.getName());
            assertThat(each.orderingKey()).contains("customer-7");
            assertThat(each.correlationId()).contains("c-1");
            assertThat(Taking.payload(each)).contains("\"number\":\"7\"");
        }
        assertThat(seen.get(0).header("messageId")).as("as it arrived").contains("\"" + id + "\"");
    }

    @Test
    void theOutboxRouterOfDebeziumIsReadWhateverItsConverters() throws Exception {
        try (HeaderConverter simple = new SimpleHeaderConverter();
                JsonConverter plain = DebeziumRecords.json(false);
                JsonConverter schemas = DebeziumRecords.json(true)) {
            int event = 0;
            for (HeaderConverter headers : List.of(simple, plain, schemas)) {
                SourceRecord routed =
                        DebeziumRecords.routed("e-" + event++, "order-7", "OrderPlaced", "{\"amount\":12}");
                send(DebeziumRecords.converted(routed, topic, headers == schemas ? schemas : plain, headers));
            }
        }
        // region interop-debezium
        Attributes attributes = Attributes.debeziumOutbox();
        // endregion
        listen(taking.everything(), attributes);
        List<Message> seen = taking.await(3);
        assertThat(seen).extracting(message -> message.id().orElse("none")).containsExactly("e-0", "e-1", "e-2");
        for (Message message : seen) {
            assertThat(message.type()).contains("OrderPlaced");
            assertThat(message.orderingKey()).contains("order-7");
        }
    }

    @Test
    void rawChangeEventsAndTheirTombstonesAreKnownByTheirPlaces() throws Exception {
        try (JsonConverter json = DebeziumRecords.json(true)) {
            SourceRecord deleted = DebeziumRecords.deleted("e-1");
            send(DebeziumRecords.converted(deleted, topic, json, json));
            send(new ProducerRecord<>(topic, json.fromConnectData(topic, deleted.keySchema(), deleted.key()), null));
        }
        listen(taking.byPosition(), Attributes.defaults());
        List<Message> seen = taking.await(2);
        assertThat(Taking.payload(seen.get(0))).contains("\"op\":\"d\"");
        assertThat(seen.get(1).header(DeliveryHeaders.TOMBSTONE)).contains("true");
        assertThat(seen.get(1).payload()).isEmpty();
        assertThat(seen.get(1).orderingKey()).isEqualTo(seen.get(0).orderingKey());
    }

    @Test
    void aTombstoneIsNeitherRejectedNorInTheWay() throws Exception {
        byte[] key = "customer-7".getBytes(StandardCharsets.UTF_8);
        send(new ProducerRecord<>(topic, key, null));
        var event = new ProducerRecord<>(topic, key, new byte[] {1});
        event.headers().add("ce_id", "e-1".getBytes(StandardCharsets.UTF_8));
        event.headers().add("ce_type", "order.placed".getBytes(StandardCharsets.UTF_8));
        send(event);
        Consumer ofTypes = Taking.consumer()
                .on("order.placed", PayloadDecoder.message(), (message, tx) -> taking.seen.add(message))
                .build();
        listen(ofTypes, Attributes.defaults());
        assertThat(taking.await(1))
                .extracting(message -> message.id().orElse("none"))
                .containsExactly("e-1");
        Taking.until(() -> listener.pending() == 0);
        try (DeadLetters letters = KafkaDeadLetters.open(client(), topic + ".dead-letters")) {
            assertThat(letters.next()).isEmpty();
        }
    }

    @Test
    void aTombstoneWithoutAnIdReachesWhoeverHandlesEverything() throws Exception {
        send(new ProducerRecord<>(topic, "customer-7".getBytes(StandardCharsets.UTF_8), null));
        send(new ProducerRecord<>(topic, "customer-7".getBytes(StandardCharsets.UTF_8), null));
        AtomicInteger failures = new AtomicInteger();
        listen(
                taking.everything(message -> {
                    if (failures.getAndIncrement() == 0) {
                        throw new TerminalException("not this one", null);
                    }
                }),
                Attributes.defaults());
        List<Message> seen = taking.await(2);
        assertThat(seen).extracting(Message::id).doesNotHaveDuplicates();
        assertThat(seen).allSatisfy(message -> {
            assertThat(message.header(DeliveryHeaders.TOMBSTONE)).contains("true");
            assertThat(message.orderingKey()).contains("customer-7");
        });
        Taking.until(() -> listener.pending() == 0);
        try (DeadLetters letters = KafkaDeadLetters.open(client(), topic + ".dead-letters")) {
            Message letter = letters.next().orElseThrow().message();
            assertThat(letter.id())
                    .as("known by the place of its message")
                    .isEqualTo(seen.get(0).id());
            assertThat(letter.header(DeliveryHeaders.TOPIC)).contains(topic);
        }
    }
}
