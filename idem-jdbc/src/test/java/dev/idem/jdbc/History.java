package dev.idem.jdbc;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.jdbc.admin.JdbcRetention;
import dev.idem.jdbc.internal.marker.KnownConsumer;
import dev.idem.jdbc.internal.retention.RetentionRun;
import dev.idem.jdbc.internal.retention.Sweep;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.RetentionSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import javax.sql.DataSource;

/** A database with a past: markers that were written long ago, and sweeps through them. */
public final class History implements AutoCloseable {
    public static final Consumer PAYMENTS = Consumer.of("payments");
    public static final Duration WINDOW = Duration.ofDays(7);

    public final Db db;
    public final Inbox inbox;

    public History(Database database) {
        db = Db.fresh(database);
        inbox = Inbox.create(db.store());
        inbox.register(PAYMENTS);
    }

    /** A message that was made so long ago, by this machine's clock, which is the database's as well. */
    public static Message message(String id, Duration age) {
        return Message.builder()
                .id(id)
                .payload(id.getBytes(StandardCharsets.UTF_8))
                .eventTime(Instant.now().minus(age))
                .build();
    }

    public static Message message(String id, Instant made) {
        return message(id, Duration.ZERO).toBuilder().eventTime(made).build();
    }

    public static Consumer payments(Policy policy) {
        return Consumer.named("payments").policy(policy).build();
    }

    public Outcome<?> pay(Consumer consumer, Message message) throws Exception {
        return pay(inbox, consumer, message);
    }

    public Outcome<?> pay(Message message) throws Exception {
        return pay(PAYMENTS, message);
    }

    public static Outcome<?> pay(Inbox inbox, Consumer consumer, Message message) throws Exception {
        return inbox.run(
                consumer, message, tx -> Db.pay(tx.connection(), message.id().orElseThrow()));
    }

    /** Processes a message as if that had been so long ago. */
    public void paid(String id, Duration ago) throws Exception {
        pay(message(id, ago.plusMinutes(1)));
        age("readable = '" + id + "'", ago);
    }

    /** Lets the markers for which the condition holds be of that age. */
    public void age(String condition, Duration age) {
        db.execute(aged(condition, age));
    }

    public String aged(String condition, Duration age) {
        return "UPDATE idem_marker SET marked_at = " + ago(age) + " WHERE " + condition;
    }

    public String ago(Duration age) {
        return switch (db.kind()) {
            case POSTGRESQL -> "clock_timestamp() - interval '" + age.toSeconds() + " s'";
            case MARIADB -> "NOW(6) - INTERVAL " + age.toSeconds() + " SECOND";
            case H2 -> "DATEADD(SECOND, -" + age.toSeconds() + ", CURRENT_TIMESTAMP)";
        };
    }

    /** Sets times of the retention row to so long ago. */
    void retention(String column, Duration age) {
        db.execute("UPDATE idem_retention SET " + column + " = " + nowMicros() + " - " + Micros.of(age));
    }

    private String nowMicros() {
        return RetentionSql.of(db.kind()).now();
    }

    public List<JdbcRetention.Swept> sweep() {
        return JdbcRetention.of(JdbcSchema.of(db.plain()))
                .run(List.of(), progress -> {})
                .consumers();
    }

    /** In steps so small that a table of some hundred rows takes several, and without rests. */
    public void sweepInSmallSteps(DataSource source) throws Exception {
        Tables tables = db.tables();
        List<KnownConsumer> known;
        try (Connection connection = db.plain().getConnection()) {
            known = KnownConsumer.all(connection, tables);
        }
        new RetentionRun(source, tables)
                .run(known, false, new Sweep(source, tables, History::shortRest, 30), progress -> {});
    }

    private static boolean shortRest(Duration pause) {
        try {
            Thread.sleep(Math.min(pause.toMillis(), 10));
            return true;
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    public long horizon() {
        return db.number("SELECT COALESCE(MAX(horizon), 0) FROM idem_retention");
    }

    /** The newest of the markers for which the condition holds, as the horizon would have it. */
    public long newest(String condition) {
        return db.number("SELECT MAX(" + RetentionSql.of(db.kind()).micros("marked_at") + ") FROM idem_marker WHERE "
                + condition);
    }

    public boolean marked(String id) {
        return db.number("SELECT count(*) FROM idem_marker WHERE readable = '" + id + "'") == 1;
    }

    @Override
    public void close() {
        inbox.close();
        db.close();
    }
}
