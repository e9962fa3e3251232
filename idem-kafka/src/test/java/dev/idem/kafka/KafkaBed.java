package dev.idem.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.SchemaMode;
import dev.idem.servers.KafkaServer;
import dev.idem.servers.PostgresServer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A topic and a group of its own on the broker of this JVM, and a database with a table of effects. */
final class KafkaBed implements AutoCloseable {
    private static final Duration LONG = Duration.ofSeconds(180);
    private static KafkaServer server;
    private static Admin admin;
    private static Producer<byte[], byte[]> producer;

    final String topic = "t-" + UUID.randomUUID();
    final String group = "g-" + UUID.randomUUID();
    final Map<String, Object> config = new HashMap<>();
    private final HikariDataSource pool = newDatabase();
    private final List<KafkaInboxListener> listeners = new ArrayList<>();
    private final List<Inbox> inboxes = new ArrayList<>();

    KafkaBed(int partitions) throws Exception {
        config.putAll(Map.of("bootstrap.servers", server().address(), "group.id", group));
        config.putAll(Map.of("heartbeat.interval.ms", "300", "metadata.max.age.ms", "1000"));
        createTopic(topic, partitions);
        execute("CREATE TABLE effect (id VARCHAR(100), place BIGSERIAL)");
    }

    static synchronized KafkaServer server() {
        if (server == null) {
            server = KafkaServer.start(Map.of("group.min.session.timeout.ms", "500"));
            Map<String, Object> client = Map.of("bootstrap.servers", server.address());
            admin = Admin.create(client);
            producer = new KafkaProducer<>(client, new ByteArraySerializer(), new ByteArraySerializer());
        }
        return server;
    }

    static Admin admin() {
        server();
        return admin;
    }

    static HikariDataSource newDatabase() {
        HikariConfig config = new HikariConfig();
        PostgresServer postgres = PostgresServer.shared();
        config.setJdbcUrl(postgres.jdbcUrl(postgres.createDatabase()));
        config.setMaximumPoolSize(8);
        config.setMinimumIdle(0);
        return new HikariDataSource(config);
    }

    static void createTopic(String name, int partitions) throws Exception {
        admin().createTopics(List.of(new NewTopic(name, Optional.of(partitions), Optional.empty())))
                .all()
                .get();
    }

    /** Sets the largest record of a topic. */
    static void largest(String topic, int bytes) throws Exception {
        var operation = new AlterConfigOp(
                new ConfigEntry("max.message.bytes", Integer.toString(bytes)), AlterConfigOp.OpType.SET);
        admin().incrementalAlterConfigs(
                        Map.of(new ConfigResource(ConfigResource.Type.TOPIC, topic), List.of(operation)))
                .all()
                .get();
    }

    /** Deletes the topic and makes it again, with one partition. */
    void remakeTopic() throws Exception {
        admin().deleteTopics(List.of(topic)).all().get();
        until("the topic is there again", () -> {
            try {
                createTopic(topic, 1);
                return true;
            } catch (ExecutionException stillThere) {
                return false;
            }
        });
    }

    DataSource database() {
        return pool;
    }

    Inbox inbox() {
        Inbox inbox = Inbox.create(
                JdbcStore.builder(pool).schemaMode(SchemaMode.CREATE).build());
        inboxes.add(inbox);
        return inbox;
    }

    KafkaInboxListener listen(Consumer consumer, UnaryOperator<KafkaInbox.Builder> options) {
        KafkaInboxListener listener = options.apply(KafkaInbox.builder(config, List.of(topic), consumer, inbox()))
                .listen();
        listeners.add(listener);
        return listener;
    }

    KafkaInboxListener listen(Consumer consumer) {
        return listen(consumer, builder -> builder);
    }

    @FunctionalInterface
    interface Before {
        void handle(Message message) throws Exception;
    }

    /** Writes the id of each message into the table. */
    static Consumer.Builder writes(Before before) {
        return Consumer.named("payments").otherwise((message, tx) -> {
            before.handle(message);
            try (PreparedStatement insert = tx.connection().prepareStatement("INSERT INTO effect (id) VALUES (?)")) {
                insert.setString(1, message.id().orElse("none"));
                insert.executeUpdate();
            }
            return "";
        });
    }

    static Consumer writer(Before before) {
        return writes(before).build();
    }

    void send(int from, int to) throws Exception {
        for (int i = from; i < to; i++) {
            producer.send(record("k" + i % 10, "m" + i));
        }
        producer.flush();
    }

    ProducerRecord<byte[], byte[]> record(String key, String id) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, bytes(key), bytes("payload of " + id));
        record.headers().add("ce_id", bytes(id));
        return record;
    }

    static void send(ProducerRecord<byte[], byte[]> record) throws Exception {
        server();
        producer.send(record).get(60, TimeUnit.SECONDS);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    List<String> effects() throws SQLException {
        List<String> ids = new ArrayList<>();
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT id FROM effect ORDER BY place")) {
            while (rows.next()) {
                ids.add(rows.getString(1));
            }
        }
        return ids;
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    Map<TopicPartition, Long> committed() throws Exception {
        return admin().listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().entrySet().stream()
                .filter(entry -> entry.getValue() != null)
                .collect(Collectors.toMap(
                        Map.Entry::getKey, entry -> entry.getValue().offset()));
    }

    /** How many offsets of the topic are not committed, those of markers included. */
    long unsettled() throws Exception {
        Map<TopicPartition, OffsetSpec> all = new HashMap<>();
        admin().describeTopics(List.of(topic))
                .allTopicNames()
                .get()
                .get(topic)
                .partitions()
                .forEach(info -> all.put(new TopicPartition(topic, info.partition()), OffsetSpec.latest()));
        Map<TopicPartition, Long> committed = committed();
        return admin().listOffsets(all).all().get().entrySet().stream()
                .mapToLong(end -> end.getValue().offset() - committed.getOrDefault(end.getKey(), 0L))
                .sum();
    }

    DeadLetters deadLetters() {
        return KafkaDeadLetters.open(config, topic + ".dead-letters");
    }

    List<Letter> letters() {
        List<Letter> all = new ArrayList<>();
        try (DeadLetters letters = deadLetters()) {
            for (Optional<Letter> next = letters.next(); next.isPresent(); next = letters.next()) {
                all.add(next.get());
            }
        }
        return all;
    }

    @FunctionalInterface
    interface Condition {
        boolean holds() throws Exception;
    }

    static void until(String what, Condition condition) throws Exception {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (!condition.holds()) {
            assertThat(System.nanoTime()).as("waited too long for: " + what).isLessThan(deadline);
            Thread.sleep(20);
        }
    }

    void awaitEffects(int count) throws Exception {
        until(count + " effects", () -> effects().size() >= count);
    }

    void awaitSettled() throws Exception {
        until("everything is settled", () -> unsettled() == 0);
    }

    void assertOnce(int count) throws Exception {
        assertThat(effects()).hasSize(count).doesNotHaveDuplicates();
    }

    @Override
    public void close() {
        listeners.forEach(listener -> listener.close(Duration.ofSeconds(5)));
        inboxes.forEach(Inbox::close);
        pool.close();
    }
}
