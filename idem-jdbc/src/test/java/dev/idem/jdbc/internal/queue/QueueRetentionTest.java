package dev.idem.jdbc.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.jdbc.Db;
import dev.idem.jdbc.History;
import dev.idem.jdbc.InboxBench;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.admin.JdbcRetention;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.schema.Database;
import dev.idem.jdbc.schema.WakeUp;
import dev.idem.queue.QueuePolicy;
import dev.idem.queue.QueueState;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a sweep leaves of stored messages. */
class QueueRetentionTest {
    private static final Duration OLD = History.WINDOW.plusHours(1);

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-06 however many messages were kept long enough, they go a few at a time, and all of them")
    void theArchiveGoesInPieces(Database database) throws Exception {
        try (InboxBench bench = new InboxBench(database);
                Connection connection = DriverManager.getConnection(bench.db.url())) {
            bench.store(InboxBench.PLAIN, "m1");
            connection.setAutoCommit(false);
            try (PreparedStatement kept = connection.prepareStatement("INSERT INTO idem_archive (id, stored_at,"
                    + " completed_at, keep_until, message_key, consumer, readable, head, payload) SELECT id + ?, stored_at,"
                    + " 1, stored_at * 0 + ?, message_key, consumer, readable, head, payload FROM idem_queue")) {
                for (int i = 1; i <= 1_201; i++) {
                    kept.setLong(1, i);
                    kept.setLong(2, i == 1_201 ? Long.MAX_VALUE : i);
                    kept.executeUpdate();
                }
            }
            connection.commit();
            Archive archive = new Archive(bench.db.tables());
            int consumer = (int) bench.db.number("SELECT number FROM idem_consumer WHERE name = 'payments'");
            List<Integer> deleted = new ArrayList<>();
            Connection watched = (Connection) Proxy.newProxyInstance(
                    Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> {
                        if (method.getName().equals("commit")) {
                            deleted.add(1_201 - kept(connection));
                        }
                        return method.invoke(connection, args);
                    });
            int forgotten = 0;
            for (int i = 0; i < 100 && forgotten < 1_200; i++) { // each time for a second at most
                forgotten += archive.forget(watched, consumer);
            }
            assertThat(forgotten).isEqualTo(1_200);
            assertThat(deleted).contains(500, 1_000, 1_200);
            assertThat(bench.db.number("SELECT count(*) FROM idem_archive")).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-06 a sweep leaves the marker of a message that waits, in whatever state; what was given up goes whole")
    void onlyWhatIsFinalGoes(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            Consumer consumer = InboxBench.consumer(InboxBench.PLAIN);
            for (QueueState state : EnumSet.complementOf(EnumSet.of(QueueState.COMPLETED))) {
                long id = bench.store(InboxBench.PLAIN, "m-" + state).get(0);
                bench.put(id, state, true);
                attempt(bench, id);
            }
            bench.store(InboxBench.PLAIN, "m-COMPLETED");
            long done = bench.operator.find("payments", "m-COMPLETED").orElseThrow();
            attempt(bench, done);
            bench.db.execute("DELETE FROM idem_queue WHERE id = " + done);
            long young = bench.store(InboxBench.PLAIN, "m-young").get(0);
            age(bench, "<> 'm-young'");
            bench.put(young, QueueState.FAILED_TERMINAL, true);
            attempt(bench, young);
            bench.db.execute("UPDATE idem_attempt SET failed_at = 1");

            JdbcRetention retention = JdbcRetention.of(JdbcSchema.of(bench.db.plain()));
            assertThat(retention
                            .dryRun(List.of(), progress -> {})
                            .consumers()
                            .get(0)
                            .markers())
                    .isEqualTo(2);
            assertThat(bench.db.number("SELECT count(*) FROM idem_attempt")).isEqualTo(8);
            assertThat(retention
                            .run(List.of(), progress -> {})
                            .consumers()
                            .get(0)
                            .markers())
                    .isEqualTo(2);

            for (QueueState state : QueueState.values()) {
                boolean kept = !state.isFinal();
                assertThat(bench.db.number("SELECT count(*) FROM idem_marker WHERE readable = 'm-" + state + "'"))
                        .as("marker of %s", state)
                        .isEqualTo(kept ? 1 : 0);
                assertThat(bench.operator.find("payments", "m-" + state).isPresent())
                        .as("message that is %s", state)
                        .isEqualTo(kept);
                if (kept) {
                    assertThat(bench.inbox.accept(consumer, Db.message("m-" + state)))
                            .as("redelivery of %s", state)
                            .isInstanceOf(Outcome.Duplicate.class);
                }
            }
            assertThat(bench.db.number("SELECT count(*) FROM idem_attempt")).isEqualTo(6);
            assertThat(bench.state(young)).isEqualTo(QueueState.FAILED_TERMINAL);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-06 a message that was done long after its receipt is recognised for a whole window from then")
    void theWindowCountsFromTheEffect(Database database) {
        for (QueuePolicy policy : List.of(InboxBench.PLAIN, QueuePolicy.leased(Duration.ofSeconds(20)))) {
            try (InboxBench bench = new InboxBench(database)) {
                Consumer consumer = InboxBench.consumer(policy);
                List<Long> ids = bench.store(policy, "late", "other");
                bench.put(ids.get(0), QueueState.PARKED, true);
                bench.put(ids.get(1), QueueState.PARKED, true);
                age(bench, "IS NOT NULL");
                bench.anna().retry(ids.get(0));
                bench.inbox.start(consumer);
                await().atMost(Duration.ofSeconds(40)).until(() -> bench.db.payments("late") == 1);
                await().atMost(Duration.ofSeconds(40))
                        .until(() -> bench.db.number("SELECT count(*) FROM idem_queue") == 1);

                JdbcRetention.of(JdbcSchema.of(bench.db.plain())).run(List.of(), progress -> {});

                assertThat(bench.inbox.accept(consumer, Db.message("late"))).isInstanceOf(Outcome.Duplicate.class);
                assertThat(bench.db.payments()).isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-06 LS-09 whether a message was done late is told by the database's clock, not by the process's")
    void lateByTheDatabasesClock(Database database) {
        try (InboxBench bench = new InboxBench(database)) {
            bench.store(InboxBench.PLAIN, "late");
            bench.db.execute("UPDATE idem_marker SET marked_at = TIMESTAMP '2001-01-01 00:00:00'");
            String now = QueueSql.of(database).now();
            DataSource ahead = rewriting(bench.db.plain(), now, "(" + now + " + " + Micros.of(OLD) + ")");
            JdbcStore store = JdbcStore.builder(bench.db.pool(8, ahead))
                    .wakeUp(WakeUp.POLL)
                    .sweepEvery(Duration.ZERO)
                    .build();
            try (Inbox inbox = Inbox.create(store)) {
                inbox.start(InboxBench.consumer(InboxBench.PLAIN));
                await().atMost(Duration.ofSeconds(40)).until(() -> bench.db.payments("late") == 1);
            }
            assertThat(bench.db.number(
                            "SELECT count(*) FROM idem_marker WHERE marked_at > TIMESTAMP" + " '2020-01-01 00:00:00'"))
                    .isEqualTo(1);
        }
    }

    /** A source whose statements say something else where they say this. */
    private static DataSource rewriting(DataSource source, String text, String instead) {
        return new UnitDataSource(() -> {
            Connection real = source.getConnection();
            return (Connection) Proxy.newProxyInstance(
                    Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> {
                        if (method.getName().equals("prepareStatement")) {
                            args[0] = ((String) args[0]).replace(text, instead);
                        }
                        try {
                            return method.invoke(real, args);
                        } catch (InvocationTargetException failure) {
                            throw failure.getCause();
                        }
                    });
        });
    }

    private static void attempt(InboxBench bench, long id) {
        bench.db.execute(
                "INSERT INTO idem_attempt (queue_id, failed_at, took, consumer, worker, reason, error_type, error)"
                        + " SELECT id, 1, 1, consumer, 'w', 'RETRY', 'T', head FROM idem_queue WHERE id = " + id);
    }

    private static void age(InboxBench bench, String which) {
        String ago = switch (bench.db.kind()) {
            case POSTGRESQL -> "clock_timestamp() - interval '" + OLD.toSeconds() + " s'";
            case MARIADB -> "NOW(6) - INTERVAL " + OLD.toSeconds() + " SECOND";
            case H2 -> "DATEADD(SECOND, -" + OLD.toSeconds() + ", CURRENT_TIMESTAMP)";
        };
        bench.db.execute("UPDATE idem_marker SET marked_at = " + ago + " WHERE readable " + which);
        bench.db.execute(
                "UPDATE idem_queue SET stored_at = stored_at - " + Micros.of(OLD) + " WHERE readable " + which);
    }

    private static int kept(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*) FROM idem_archive")) {
            row.next();
            return row.getInt(1);
        }
    }
}
