package dev.idem.kafka;

import static dev.idem.kafka.KafkaBed.bytes;
import static dev.idem.kafka.KafkaBed.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.TerminalException;
import dev.idem.broker.DeliveryHeaders;
import dev.idem.broker.LetterSource;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySession.State;
import dev.idem.replay.ReplaySource;
import dev.idem.replay.ReplaySpec;
import dev.idem.replay.Replayer;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.spi.Envelope;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Replays from topics. */
@Timeout(240)
@ExtendWith(SkipWithoutServer.class)
class KafkaRangeTest {
    private static Consumer sums(Policy.Replay replay, boolean watermark) {
        Consumer.Builder builder = Consumer.named("sums")
                .policy(Policy.defaults().withReplay(replay))
                .otherwise((message, tx) -> {
                    try (var upsert = tx.connection()
                            .prepareStatement(
                                    "INSERT INTO sums (account, total, ids) VALUES (?, ?, 1) ON CONFLICT (account)"
                                            + " DO UPDATE SET total = sums.total * 31 % 1000003 + excluded.total,"
                                            + " ids = sums.ids + 1")) {
                        upsert.setString(1, message.orderingKey().orElseThrow());
                        upsert.setLong(
                                2,
                                message.payload().length
                                        + message.id().orElseThrow().hashCode() % 97);
                        return upsert.executeUpdate();
                    }
                });
        return watermark ? builder.watermark().build() : builder.build();
    }

    private static String dump(KafkaBed bed) throws Exception {
        StringBuilder text = new StringBuilder();
        try (Connection connection = bed.database().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT account, total, ids FROM sums WHERE account <> 'beside' ORDER BY account")) {
            while (rows.next()) {
                text.append(rows.getString(1) + " " + rows.getLong(2) + " " + rows.getLong(3) + "\n");
            }
        }
        return text.toString();
    }

    private static long count(KafkaBed bed, String sql) throws Exception {
        try (Connection connection = bed.database().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            return rows.next() ? rows.getLong(1) : 0;
        }
    }

    private static ReplaySession awaited(JdbcReplays replays, String name) throws Exception {
        until("session " + name, () -> {
            State state = replays.status(name).orElseThrow().state();
            return state == State.DONE || state == State.FAILED;
        });
        return replays.status(name).orElseThrow();
    }

    @Test
    @DisplayName(
            "RP-04 a projection rebuilt from a topic equals the original, by markers and by watermark, while messages go on coming")
    void rebuilt() throws Exception {
        for (boolean watermark : new boolean[] {false, true}) {
            try (KafkaBed bed = new KafkaBed(3)) {
                bed.execute("CREATE TABLE sums (account VARCHAR(20) PRIMARY KEY, total BIGINT, ids BIGINT)");
                Consumer consumer = sums(Policy.Replay.ALLOWED, watermark);
                KafkaInboxListener listener = bed.listen(consumer);
                bed.send(0, 300);
                bed.awaitSettled();
                until("all are summed", () -> count(bed, "SELECT sum(ids) FROM sums") == 300);
                String original = dump(bed);
                JdbcReplays replays = JdbcReplays.of(JdbcSchema.of(bed.database()));
                AtomicBoolean stop = new AtomicBoolean();
                int[] sent = {0};
                Thread traffic = new Thread(() -> {
                    while (!stop.get()) {
                        try {
                            KafkaBed.send(bed.record("beside", "b" + sent[0]++));
                        } catch (Exception failure) {
                            throw new IllegalStateException(failure);
                        }
                    }
                });
                String to = Instant.now().plusMillis(1).toString();
                Thread.sleep(20);
                bed.execute("TRUNCATE sums");
                traffic.start();
                Inbox inbox = bed.inbox();
                try (Replayer replayer = Replayer.builder(inbox)
                        .consumer(consumer)
                        .source(KafkaRange.of(bed.config))
                        .start()) {
                    replays.as("anna", "wrong sums")
                            .perSecond(10_000)
                            .start(
                                    "r-" + watermark,
                                    "sums",
                                    ReplaySpec.parse("kafka:topic=" + bed.topic + ";to=" + to));
                    ReplaySession done = awaited(replays, "r-" + watermark);
                    assertThat(done.state()).as(String.valueOf(done.error())).isEqualTo(State.DONE);
                    assertThat(done.counts().processed()).isEqualTo(300);
                    assertThat(done.total()).hasValue(300);
                    assertThat(replayer).isNotNull();
                } finally {
                    stop.set(true);
                    traffic.join();
                }
                bed.awaitSettled();
                assertThat(dump(bed)).isEqualTo(original);
                until(
                        "what came beside it counts once",
                        () -> count(bed, "SELECT ids FROM sums WHERE account = 'beside'") == sent[0]);
                listener.close();
            }
        }
    }

    @Test
    @DisplayName("RP-02 a range gives the listener's messages: the same id, key, headers, time, position and bytes")
    void theSameMessages() throws Exception {
        try (KafkaBed bed = new KafkaBed(2)) {
            Map<String, byte[]> heard = new ConcurrentHashMap<>();
            KafkaInboxListener listener =
                    bed.listen(KafkaBed.writer(m -> heard.put(m.id().orElseThrow(), Envelope.of(m))));
            for (int i = 0; i < 20; i++) {
                var record = bed.record("k" + i % 3, "m" + i);
                record.headers().add("raw", new byte[] {(byte) 0xFF, (byte) i});
                KafkaBed.send(record);
            }
            var tombstone = new ProducerRecord<byte[], byte[]>(bed.topic, bytes("k"), null);
            tombstone.headers().add("ce_id", bytes("gone"));
            KafkaBed.send(tombstone);
            bed.awaitEffects(21);
            listener.close();
            KafkaRange range = KafkaRange.of(bed.config);
            List<Message> read = read(range, "kafka:topic=" + bed.topic, null, 4);
            assertThat(read).hasSize(21);
            assertThat(read).allSatisfy(m -> assertThat(Envelope.of(m)).isEqualTo(heard.get(m.id().orElseThrow())));
            assertThat(read(range.tombstones(Tombstones.ACKNOWLEDGE), "kafka:topic=" + bed.topic, null, 4))
                    .hasSize(20);
        }
    }

    @Test
    @DisplayName(
            "a range has its bounds by partition, offset and time, leaves out what is aborted, and goes on at its cursor")
    void bounds() throws Exception {
        try (KafkaBed bed = new KafkaBed(2)) {
            for (int i = 0; i < 10; i++) {
                KafkaBed.send(record(bed, 0, 1_000_000L + i * 1000, "a" + i));
                KafkaBed.send(record(bed, 1, 2_000_000L + i * 1000, "b" + i));
            }
            Map<String, Object> config =
                    Map.of("bootstrap.servers", KafkaBed.server().address(), "transactional.id", "t-" + bed.topic);
            try (var producer =
                    new KafkaProducer<byte[], byte[]>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
                producer.initTransactions();
                producer.beginTransaction();
                producer.send(record(bed, 0, 3_000_000L, "aborted")).get();
                producer.abortTransaction();
                producer.beginTransaction();
                producer.send(record(bed, 0, 3_000_001L, "committed")).get();
                producer.commitTransaction();
            }
            KafkaRange range = KafkaRange.of(bed.config);
            String topic = "kafka:topic=" + bed.topic;
            assertThat(ids(read(range, topic, null, 100)))
                    .hasSize(21)
                    .contains("committed")
                    .doesNotContain("aborted");
            assertThat(ids(read(range, topic + ";partitions=1;from=3;to=6", null, 2)))
                    .containsExactly("b3", "b4", "b5");
            assertThat(ids(read(
                            range,
                            topic + ";from=" + Instant.ofEpochMilli(1_008_000) + ";to="
                                    + Instant.ofEpochMilli(2_002_000),
                            null,
                            3)))
                    .containsExactly("a8", "a9", "b0", "b1");
            String cursor;
            try (ReplaySource.Reading reading = range.open(session(topic, null), ReplaySpec.parse(topic))) {
                assertThat(ids(reading.next(13).messages())).hasSize(13);
                cursor = reading.next(0).cursor();
            }
            KafkaBed.send(record(bed, 1, 4_000_000L, "later"));
            List<String> rest = ids(read(range, topic, cursor, 5));
            assertThat(rest).hasSize(8).doesNotContain("later").endsWith("b9");
            assertThatThrownBy(() -> read(range, topic + ";offsets=3", null, 1)).hasMessageContaining("no option");
            assertThatThrownBy(() -> read(range, topic + ";partitions=7", null, 1))
                    .hasMessageContaining("partitions");
        }
    }

    @Test
    @DisplayName(
            "RP-02 RP-03 dead letters are replayed by a session as they were before, stay where they are, and are done once")
    void deadLetters() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            AtomicBoolean repaired = new AtomicBoolean();
            Map<String, Message> heard = new ConcurrentHashMap<>();
            Consumer consumer = KafkaBed.writer(message -> {
                if (!repaired.get()) {
                    throw new TerminalException("not yet", null);
                }
                heard.put(message.id().orElseThrow(), message);
            });
            KafkaInboxListener listener = bed.listen(consumer);
            bed.send(0, 12);
            bed.awaitSettled();
            listener.close();
            assertThat(bed.letters()).hasSize(12);
            repaired.set(true);
            JdbcReplays replays = JdbcReplays.of(JdbcSchema.of(bed.database()));
            try (Replayer replayer = Replayer.builder(bed.inbox())
                    .consumer(consumer)
                    .source(LetterSource.of(topic -> KafkaDeadLetters.open(bed.config, topic)))
                    .start()) {
                for (String name : List.of("one", "two")) {
                    replays.as("anna", "repaired")
                            .perSecond(10_000)
                            .start(
                                    name,
                                    "payments",
                                    ReplaySpec.parse("dead-letters:from=" + bed.topic + ".dead-letters"));
                    assertThat(awaited(replays, name).state()).isEqualTo(State.DONE);
                }
                assertThat(replays.status("one").orElseThrow().counts().processed())
                        .isEqualTo(12);
                assertThat(replays.status("two").orElseThrow().counts().duplicates())
                        .isEqualTo(12);
                assertThat(replayer).isNotNull();
            }
            bed.assertOnce(12);
            assertThat(bed.letters()).hasSize(12);
            assertThat(heard.values()).allSatisfy(m -> {
                assertThat(m.headers()).hasSize(2);
                assertThat(m.header(DeliveryHeaders.TOPIC)).contains(bed.topic);
                assertThat(m.header("ce_id")).isEqualTo(m.id());
                assertThat(m.replaySession()).contains("one");
            });
        }
    }

    private static ProducerRecord<byte[], byte[]> record(KafkaBed bed, int partition, long time, String id) {
        var record = new ProducerRecord<>(bed.topic, partition, time, bytes("k" + partition), bytes(id));
        record.headers().add("ce_id", bytes(id));
        return record;
    }

    private static List<String> ids(List<Message> messages) {
        return messages.stream().map(m -> m.id().orElseThrow()).toList();
    }

    private static List<Message> read(KafkaRange range, String spec, String cursor, int most) {
        List<Message> all = new ArrayList<>();
        try (ReplaySource.Reading reading = range.open(session(spec, cursor), ReplaySpec.parse(spec))) {
            for (boolean end = false; !end; ) {
                ReplaySource.Batch batch = reading.next(most);
                all.addAll(batch.messages());
                end = batch.end();
            }
        }
        return all;
    }

    private static ReplaySession session(String spec, String cursor) {
        return new ReplaySession(
                "s",
                "payments",
                spec,
                "anna",
                "why",
                10,
                false,
                State.RUNNING,
                Optional.empty(),
                Optional.ofNullable(cursor),
                OptionalLong.empty(),
                ReplaySession.Counts.none(),
                Optional.empty(),
                Optional.empty(),
                1,
                Instant.EPOCH,
                Instant.EPOCH,
                Optional.empty(),
                List.of());
    }
}
