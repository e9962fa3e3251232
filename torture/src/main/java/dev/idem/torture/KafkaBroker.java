package dev.idem.torture;

import dev.idem.Header;
import dev.idem.Message;
import dev.idem.servers.KafkaServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A Kafka broker with a topic of several partitions, one for each lane. */
final class KafkaBroker implements BrokerServer {
    private static final int PARTITIONS = 6;

    /** So that the group misses a killed member soon. */
    private static final Map<String, String> SETTINGS = Map.of("group.min.session.timeout.ms", "500");

    private static final Duration LONGEST_OUTAGE = Duration.ofMinutes(10);
    private static final Duration READ_LIMIT = Duration.ofMillis(200);
    private static final Duration LONGEST_GOODBYE = Duration.ofSeconds(30);

    private final KafkaServer server;
    private final Admin admin;
    private final Producer<byte[], byte[]> producer;

    private final List<String> topics;
    private boolean hasLetters;

    private KafkaBroker(KafkaServer server, List<String> topics) {
        this.server = server;
        this.topics = topics;
        admin = Admin.create(Map.of("bootstrap.servers", server.address()));
        // An idempotent producer (the default) keeps the order of a partition over all its tries, as long as none ends.
        producer = new KafkaProducer<>(
                Map.of(
                        ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                        server.address(),
                        ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
                        Math.toIntExact(LONGEST_OUTAGE.toMillis()),
                        ProducerConfig.MAX_BLOCK_MS_CONFIG,
                        LONGEST_OUTAGE.toMillis(),
                        ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG,
                        5_000),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    /** @param topics each is read by a group of the same name */
    static KafkaBroker start(String... topics) throws Exception {
        KafkaBroker broker = new KafkaBroker(KafkaServer.start(SETTINGS), List.of(topics));
        broker.admin
                .createTopics(broker.topics.stream()
                        .map(topic -> new NewTopic(topic, Optional.of(PARTITIONS), Optional.empty()))
                        .toList())
                .all()
                .get();
        return broker;
    }

    /** And a topic for dead letters, which can be closed. */
    static KafkaBroker withLetters(String topic) throws Exception {
        KafkaBroker broker = start(topic);
        broker.admin
                .createTopics(List.of(new NewTopic(LETTERS, 1, (short) 1)))
                .all()
                .get();
        broker.hasLetters = true;
        return broker;
    }

    @Override
    public boolean hasLetters() {
        return hasLetters;
    }

    /** Nothing is small enough for it, while it is closed. */
    @Override
    public void letters(boolean welcome) throws Exception {
        ConfigEntry largest = new ConfigEntry(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, welcome ? "1000000" : "1");
        admin.incrementalAlterConfigs(Map.of(
                        new ConfigResource(ConfigResource.Type.TOPIC, LETTERS),
                        List.of(new AlterConfigOp(largest, AlterConfigOp.OpType.SET))))
                .all()
                .get();
    }

    @Override
    public List<Item> letters() {
        List<Item> letters = new ArrayList<>();
        TopicPartition place = new TopicPartition(LETTERS, 0);
        try (var reader = new KafkaConsumer<>(
                Map.of("bootstrap.servers", server.address()),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            reader.assign(List.of(place));
            reader.seekToBeginning(List.of(place));
            long end = reader.endOffsets(List.of(place)).getOrDefault(place, 0L);
            while (reader.position(place) < end) {
                reader.poll(READ_LIMIT).forEach(letter -> letters.add(Item.parse(letter.value())));
            }
        }
        return letters;
    }

    @Override
    public String address() {
        return server.address();
    }

    @Override
    public int lanes() {
        return PARTITIONS;
    }

    @Override
    public void publish(int lane, List<Message> messages) throws Exception {
        List<Future<?>> sent = new ArrayList<>();
        for (Message message : messages) {
            byte[] key = message.orderingKey().map(KafkaBroker::bytes).orElseThrow();
            var sending = new ProducerRecord<byte[], byte[]>(NAME, lane, key, message.payload());
            sending.headers().add("ce_id", bytes(message.id().orElseThrow()));
            for (Header header : message.headers()) {
                sending.headers().add(header.name(), header.value());
            }
            sent.add(producer.send(sending));
        }
        producer.flush();
        for (Future<?> confirmation : sent) {
            confirmation.get();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void forgetConsumers() throws Exception {
        for (String group : topics) {
            forget(group);
        }
    }

    private void forget(String group) throws Exception {
        long deadline = System.nanoTime() + LONGEST_GOODBYE.toNanos();
        while (true) {
            try {
                admin.deleteConsumerGroups(List.of(group)).all().get();
                return;
            } catch (ExecutionException failure) {
                if (failure.getCause() instanceof GroupIdNotFoundException) {
                    return;
                }
                if (System.nanoTime() > deadline) {
                    throw failure;
                }
                Thread.sleep(100); // the group has not noticed yet that its member is gone
            }
        }
    }

    /** What lies behind the committed offsets. */
    @Override
    public long unfinished() throws Exception {
        long left = 0;
        for (String topic : topics) {
            left += unfinished(topic);
        }
        return left;
    }

    private long unfinished(String topic) throws Exception {
        Map<TopicPartition, OffsetSpec> partitions = new HashMap<>();
        for (int i = 0; i < PARTITIONS; i++) {
            partitions.put(new TopicPartition(topic, i), OffsetSpec.latest());
        }
        Map<TopicPartition, OffsetAndMetadata> committed = admin.listConsumerGroupOffsets(topic)
                .partitionsToOffsetAndMetadata()
                .get();
        long left = 0;
        for (var end : admin.listOffsets(partitions).all().get().entrySet()) {
            OffsetAndMetadata done = committed.get(end.getKey());
            left += end.getValue().offset() - (done == null ? 0 : done.offset());
        }
        return left;
    }

    @Override
    public void killHard() {
        server.killHard();
    }

    @Override
    public void restart() {
        server.restart();
    }

    @Override
    public void close() {
        producer.close(Duration.ZERO);
        admin.close(Duration.ZERO);
        server.close();
    }
}
