package dev.idem.jdbc;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.KeySelector;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.jdbc.admin.JdbcRetention;
import dev.idem.jdbc.internal.marker.KnownConsumer;
import dev.idem.jdbc.internal.marker.Partition;
import dev.idem.jdbc.internal.retention.RetentionRun;
import dev.idem.jdbc.internal.retention.Sweep;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/** A PostgreSQL database with markers in partitions, of which many are older than the window. */
public final class Days implements AutoCloseable {
    public static final int BACK = 20;
    public static final Duration OLD = Duration.ofDays(10);
    public static final Consumer PAYMENTS = payments(Policy.defaults());

    public final Db db = Db.fresh(Database.POSTGRESQL);
    public final Inbox inbox;

    public Days() {
        JdbcSchema.of(db.plain()).applyPartitioned(BACK);
        inbox = Inbox.create(JdbcStore.create(db.plain()));
        inbox.register(PAYMENTS);
    }

    public static Consumer payments(Policy policy) {
        return Consumer.named("payments")
                .key(KeySelector.messageId().timeOrdered())
                .policy(policy)
                .build();
    }

    /** The same consumer, with a handler for batches. */
    public static Consumer handler() {
        return Consumer.named("payments")
                .key(KeySelector.messageId().timeOrdered())
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    return null;
                })
                .build();
    }

    public static String v7(Instant made) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        long high = made.toEpochMilli() << 16 | 0x7000 | random.nextInt(0x1000);
        return new UUID(high, random.nextLong() >>> 2 | Long.MIN_VALUE).toString();
    }

    public static String v7(Duration age) {
        return v7(Instant.now().minus(age));
    }

    public static Message message(String id) {
        return Message.of(id, id.getBytes(StandardCharsets.UTF_8));
    }

    public Outcome<?> pay(String id) throws Exception {
        return pay(inbox, PAYMENTS, id);
    }

    public static Outcome<?> pay(Inbox inbox, Consumer consumer, String id) throws Exception {
        return inbox.run(consumer, message(id), tx -> Db.pay(tx.connection(), id));
    }

    public JdbcRetention.Report sweep() {
        return JdbcRetention.of(JdbcSchema.of(db.plain())).run(List.of(), progress -> {});
    }

    public JdbcRetention.Partitions sweptPartitions() {
        return sweep().partitions().orElseThrow();
    }

    public RetentionRun.Partitioned sweptWithoutRests() throws Exception {
        Tables tables = db.tables();
        List<KnownConsumer> known;
        try (Connection connection = db.plain().getConnection()) {
            known = KnownConsumer.all(connection, tables);
        }
        return new RetentionRun(db.plain(), tables)
                .run(known, false, new Sweep(db.plain(), tables, pause -> true), progress -> {})
                .partitions()
                .orElseThrow();
    }

    public List<Partition> partitions() throws Exception {
        try (var connection = db.plain().getConnection()) {
            return Partition.list(connection, db.tables());
        }
    }

    public Partition oldest() throws Exception {
        return partitions().get(0);
    }

    public Partition of(Instant time) throws Exception {
        return partitions().stream()
                .filter(partition -> partition.covers(time.toEpochMilli()))
                .findFirst()
                .orElseThrow();
    }

    /** Today, as the partitions have it. */
    public static long today() {
        return Partition.dayOf(System.currentTimeMillis());
    }

    public long horizon() {
        return db.number("SELECT COALESCE(MAX(horizon), 0) FROM idem_retention");
    }

    @Override
    public void close() {
        inbox.close();
        db.close();
    }
}
