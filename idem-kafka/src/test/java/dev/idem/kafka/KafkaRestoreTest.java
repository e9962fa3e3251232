package dev.idem.kafka;

import static dev.idem.kafka.KafkaBed.until;
import static dev.idem.kafka.KafkaBed.writer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.StoreReplacedException;
import dev.idem.broker.ListenerState;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.admin.JdbcRecovery;
import dev.idem.servers.SkipWithoutServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A database that is restored, and a broker that is not. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class KafkaRestoreTest {
    private static final Consumer CONSUMER = writer(message -> {});

    /** All tables, ours and theirs, as a dump has them. */
    private static List<String> tables(KafkaBed bed) throws SQLException {
        List<String> names = new ArrayList<>();
        try (Connection connection = bed.database().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE 'dump_%'")) {
            while (rows.next()) {
                names.add(rows.getString(1));
            }
        }
        return names;
    }

    private static void dump(KafkaBed bed) throws SQLException {
        for (String table : tables(bed)) {
            bed.execute("CREATE TABLE dump_" + table + " AS SELECT * FROM " + table);
        }
    }

    private static void restore(KafkaBed bed) throws SQLException {
        for (String table : tables(bed)) {
            bed.execute("TRUNCATE " + table);
            bed.execute("INSERT INTO " + table + " SELECT * FROM dump_" + table);
        }
    }

    /** Messages before a dump and after it, all done and committed, and then the dump again. */
    private static void restored(KafkaBed bed) throws Exception {
        KafkaInboxListener first = bed.listen(CONSUMER);
        bed.send(0, 50);
        bed.awaitEffects(50);
        bed.awaitSettled();
        first.close();
        dump(bed);
        KafkaInboxListener second = bed.listen(CONSUMER);
        bed.send(50, 100);
        bed.awaitEffects(100);
        bed.awaitSettled();
        second.close();
        restore(bed);
        assertThat(bed.effects()).hasSize(50);
    }

    private static StoreReplacedException refusal(KafkaInboxListener listener) throws Exception {
        until("it gives up", () -> listener.state() == ListenerState.FAILED);
        Throwable cause = listener.failure().orElseThrow();
        assertThat(cause).isInstanceOf(StoreReplacedException.class);
        return (StoreReplacedException) cause;
    }

    @Test
    @DisplayName(
            "RP-05 a listener refuses a restored store; after the rewind it names, nothing is lost and nothing doubled")
    void rewound() throws Exception {
        try (KafkaBed bed = new KafkaBed(3)) {
            restored(bed);
            bed.send(100, 120);
            KafkaInboxListener refused = bed.listen(CONSUMER);
            String said = refusal(refused).getMessage();
            assertThat(said).contains("older than the offsets", "Reset the offsets", "accept-loss");
            refused.close();
            assertThat(bed.effects()).as("nothing was consumed").hasSize(50);

            Matcher time = Pattern.compile("at or before (\\S+Z)").matcher(said);
            assertThat(time.find()).isTrue();
            reset(bed, Instant.parse(time.group(1)).minus(Duration.ofMinutes(1)));

            bed.listen(CONSUMER);
            bed.awaitEffects(120);
            bed.awaitSettled();
            bed.assertOnce(120);
        }
    }

    /** As {@code kafka-consumer-groups.sh --reset-offsets --to-datetime} does it. */
    private static void reset(KafkaBed bed, Instant to) throws Exception {
        Admin admin = KafkaBed.admin();
        Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
        bed.committed().keySet().forEach(p -> wanted.put(p, OffsetSpec.forTimestamp(to.toEpochMilli())));
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (Map.Entry<TopicPartition, ListOffsetsResult.ListOffsetsResultInfo> found :
                admin.listOffsets(wanted).all().get().entrySet()) {
            offsets.put(found.getKey(), new OffsetAndMetadata(found.getValue().offset()));
        }
        until("the group is empty", () -> {
            try {
                admin.alterConsumerGroupOffsets(bed.group, offsets).all().get();
                return true;
            } catch (java.util.concurrent.ExecutionException busy) {
                return false;
            }
        });
    }

    @Test
    @DisplayName(
            "RP-05 a loss that a person has accepted, or a builder that trusts offsets, goes on where the group is")
    void accepted() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            restored(bed);
            KafkaInboxListener refused = bed.listen(CONSUMER);
            refusal(refused);
            refused.close();

            KafkaInboxListener trusting = bed.listen(CONSUMER, builder -> builder.trustOffsets(true));
            bed.send(100, 110);
            bed.awaitEffects(60);
            trusting.close();
            restore(bed);
            refusal(bed.listen(CONSUMER)); // what the trusting one has committed bears witness as well

            JdbcRecovery.of(JdbcSchema.of(bed.database())).acceptLoss("anna", "only tests");
            bed.listen(CONSUMER);
            bed.send(110, 120);
            bed.awaitEffects(60);
            bed.awaitSettled();
            assertThat(bed.effects()).doesNotHaveDuplicates().hasSize(60);
        }
    }

    @Test
    @DisplayName("RP-05 a store that is restored under a running listener is noticed too, and offsets say so")
    void whileRunning() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            KafkaInboxListener listener = bed.listen(CONSUMER);
            bed.send(0, 10);
            bed.awaitSettled();
            dump(bed);
            String before = metadata(bed);
            int[] sent = {10};
            until("the offsets carry a later testimony", () -> {
                bed.send(sent[0], ++sent[0]);
                Thread.sleep(300);
                return !metadata(bed).equals(before);
            });
            restore(bed);
            until("it gives up", () -> {
                bed.send(sent[0], ++sent[0]);
                Thread.sleep(300);
                return listener.state() == ListenerState.FAILED;
            });
            assertThat(listener.failure().orElseThrow()).isInstanceOf(StoreReplacedException.class);
        }
    }

    private static String metadata(KafkaBed bed) throws Exception {
        return KafkaBed.admin()
                .listConsumerGroupOffsets(bed.group)
                .partitionsToOffsetAndMetadata()
                .get()
                .get(new TopicPartition(bed.topic, 0))
                .metadata();
    }

    @Test
    @DisplayName("offsets that other tools have committed say nothing, and stop nobody")
    void foreignOffsets() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            bed.send(0, 10);
            KafkaBed.admin()
                    .alterConsumerGroupOffsets(
                            bed.group,
                            Map.of(new TopicPartition(bed.topic, 0), new OffsetAndMetadata(4, "idem1 by another tool")))
                    .all()
                    .get();
            bed.listen(CONSUMER);
            bed.awaitEffects(6);
            bed.awaitSettled();
            bed.assertOnce(6);
            assertThat(metadata(bed)).startsWith("idem1 ");
        }
    }
}
