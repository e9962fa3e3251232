package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Handler;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.RetryPolicy;
import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import dev.idem.join.Provisional;
import dev.idem.queue.QueuePolicy;
import dev.idem.servers.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TimeZone;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Options of drivers and pools that change what a call answers. */
class DriverOptionsTest {
    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        "POSTGRESQL, reWriteBatchedInserts=true",
        "POSTGRESQL, prepareThreshold=1",
        "POSTGRESQL, prepareThreshold=0",
        "POSTGRESQL, prepareThreshold=-1",
        "POSTGRESQL, preferQueryMode=simple",
        "POSTGRESQL, preferQueryMode=extendedForPrepared",
        "POSTGRESQL, stringtype=unspecified",
        "MARIADB, useAffectedRows=true",
        "MARIADB, useAffectedRows=false",
        "MARIADB, useServerPrepStmts=true",
        "MARIADB, allowMultiQueries=true",
        "MARIADB, useBulkStmts=true",
        "H2, LOCK_TIMEOUT=100"
    })
    @DisplayName("PG-14 MY-04 no option of the driver changes an outcome")
    void noOptionChangesAnOutcome(Database database, String option) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox(db.pool(1, option))) {
            StorePath.check(db, inbox);
        }
    }

    /** Where the driver undoes a failed statement alone, the transaction is sound, and going on is the handler's decision. */
    @ParameterizedTest(name = "{0}, the {1} statement fails")
    @CsvSource({
        "autosave=always, first",
        "autosave=always, second",
        "autosave=always&cleanupSavepoints=true, first",
        "autosave=always&cleanupSavepoints=true, second",
        "autosave=conservative, first",
        "autosave=never, first",
        "autosave=never, second"
    })
    @DisplayName("PC-07 a swallowed SQL error has the same outcome alone, in a batch, stored and joined")
    void aSwallowedErrorHasOneOutcome(String options, String failing) throws Exception {
        boolean sound = options.contains("always");
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox(db.pool(4, options))) {
            Handler<Message, Object> handler = (message, tx) -> {
                String id = message.id().orElseThrow();
                if (failing.equals("second")) {
                    Db.pay(tx.connection(), id);
                }
                boolean swallows = Integer.parseInt(id.substring(1)) % 2 == 1;
                try {
                    Db.pay(tx.connection(), swallows ? "x".repeat(200) : "other");
                } catch (SQLException swallowed) {
                    assertThat(swallowed.getSQLState()).isEqualTo("22001");
                }
                if (failing.equals("first") && (sound || !swallows)) {
                    Db.pay(tx.connection(), id);
                }
                return null;
            };
            Consumer consumer = Consumer.named("payments").otherwise(handler).build();
            List<Outcome<?>> outcomes = new ArrayList<>();
            outcomes.add(inbox.accept(consumer, Db.message("a0")));
            outcomes.add(inbox.accept(consumer, Db.message("a1")));
            outcomes.addAll(inbox.acceptAll(
                    consumer,
                    Stream.of("b0", "b1", "b2", "b3", "b4", "b5")
                            .map(Db::message)
                            .toList()));
            for (String id : List.of("c0", "c1")) {
                try (Connection outer = Db.plain(db.url(options)).getConnection()) {
                    outer.setAutoCommit(false);
                    outcomes.add(joined(inbox, outer, Db.message(id), handler));
                }
            }
            for (int i = 0; i < outcomes.size(); i++) {
                boolean processed = sound || i % 2 == 0;
                assertThat(outcomes.get(i))
                        .as("%s of %s", i, outcomes)
                        .matches(o -> processed == o instanceof Outcome.Processed);
            }
            assertThat(db.number("SELECT count(*) FROM payment WHERE order_id <> 'other'"))
                    .isEqualTo(sound ? 10 : 5);
            assertThat(db.markers()).isEqualTo(sound ? 10 : 5);
            stored(db, inbox, handler, sound);
        }
    }

    private static Outcome<?> joined(Inbox inbox, Connection outer, Message message, Handler<Message, Object> handler)
            throws Exception {
        try {
            Provisional<Object> provisional =
                    inbox.within(outer).process("payments", message, tx -> handler.handle(message, tx));
            provisional.confirm();
            outer.commit();
            return provisional.outcome();
        } catch (BrokenTransactionException broken) {
            assertThat(outer.isClosed()).as("its owner cannot commit").isTrue();
            return new Outcome.Failed<>(Failure.RETRYABLE, broken);
        }
    }

    private static void stored(Db db, Inbox inbox, Handler<Message, Object> handler, boolean sound) throws Exception {
        Consumer consumer = Consumer.named("stored")
                .queued(QueuePolicy.inTransaction()
                        .withRetry(RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(1))
                        .withWorkers(1))
                .otherwise(handler)
                .build();
        inbox.acceptAll(
                consumer, Stream.of("d0", "d1", "d2", "d3").map(Db::message).toList());
        inbox.start(consumer);
        org.awaitility.Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> inbox.queueStats("stored").pending() == 0
                        && inbox.queueStats("stored").inProgress() == 0);
        assertThat(db.number("SELECT count(*) FROM payment WHERE order_id LIKE 'd%'"))
                .isEqualTo(sound ? 4 : 2);
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a pool whose connections come without autocommit serves the same path")
    void aPoolWithoutAutocommitServes(Database database) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setMaximumPoolSize(1);
        config.setAutoCommit(false);
        try (Db db = Db.fresh(database)) {
            config.setDataSource(db.plain());
            try (HikariDataSource pool = new HikariDataSource(config);
                    Inbox inbox = db.inbox(pool)) {
                StorePath.check(db, inbox);
            }
        }
    }

    @Test
    @DisplayName("MY-13 a driver that replays a lost transaction by itself does not double the effect")
    void aDriverThatReplaysDoesNotDouble() throws Exception {
        try (Db db = Db.fresh(Database.MARIADB);
                Inbox other = db.inbox();
                Inbox inbox = db.inbox(Db.plain(
                        db.url("transactionReplay=true").replace("jdbc:mariadb:", "jdbc:mariadb:sequential:")))) {
            AtomicBoolean first = new AtomicBoolean(true);
            assertThatThrownBy(() -> inbox.run("payments", Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        if (first.getAndSet(false)) {
                            long session = number(tx.connection(), "SELECT CONNECTION_ID()");
                            db.execute("KILL CONNECTION " + session);
                            // The key is free as soon as the session is gone, and another process takes it.
                            assertThat(other.run("payments", Db.message("1"), twin -> Db.pay(twin.connection(), "1")))
                                    .isInstanceOf(Outcome.Processed.class);
                            Db.pay(tx.connection(), "1");
                        }
                    }))
                    .isInstanceOf(BrokenTransactionException.class);
            assertThat(db.payments()).isEqualTo(1);
            assertThat(inbox.run("payments", Db.message("1"), Transaction::nothingToDo))
                    .isInstanceOf(Outcome.Duplicate.class);
        }
    }

    private static long number(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    @Test
    @DisplayName("PG-14 a handler's rewritten batch commits with its marker")
    void aRewrittenBatchCommits() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox(Db.plain(db.url("reWriteBatchedInserts=true")))) {
            inbox.run("payments", Db.message("1"), tx -> {
                try (PreparedStatement statement =
                        tx.connection().prepareStatement("INSERT INTO payment (order_id) VALUES (?)")) {
                    for (int i = 0; i < 10; i++) {
                        statement.setString(1, "1");
                        statement.addBatch();
                    }
                    statement.executeBatch();
                }
            });
            assertThat(db.payments("1")).isEqualTo(10);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "POSTGRESQL, options=-c%20TimeZone=Pacific/Kiritimati",
        "MARIADB, sessionVariables=time_zone='-11:00'",
        "H2, TIME ZONE=Pacific/Kiritimati"
    })
    @DisplayName("a marker's time is right whatever the time zones of process, session and database are")
    void theMarkersTimeIsRight(Database database, String zone) throws Exception {
        TimeZone before = TimeZone.getDefault();
        try (Db db = Db.fresh(database)) {
            TimeZone.setDefault(TimeZone.getTimeZone("America/St_Johns"));
            Instant start = Instant.now();
            db.inbox(Db.plain(db.url(zone))).run("payments", Db.message("1"), Transaction::nothingToDo);
            TimeZone.setDefault(TimeZone.getTimeZone("Asia/Kathmandu"));
            assertThat(db.inbox().run("payments", Db.message("1"), Transaction::nothingToDo))
                    .isInstanceOfSatisfying(
                            Outcome.Duplicate.class,
                            duplicate -> assertThat(duplicate.markedAt())
                                    .isBetween(
                                            start.minusSeconds(5), Instant.now().plusSeconds(5)));
        } finally {
            TimeZone.setDefault(before);
        }
    }

    @Test
    @DisplayName("PG-32 PG-33 duplicates burn no transaction ids and no dead rows, and markers are never updated")
    void duplicatesLeaveNoTrace() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                Db db = Db.at(Database.POSTGRESQL, server.jdbcUrl("postgres"));
                Inbox inbox = db.inbox(db.pool(1))) {
            Message message = Db.message("1");
            inbox.run("payments", message, tx -> Db.pay(tx.connection(), "1"));
            String next = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
            long before = db.number(next);
            for (int i = 0; i < 200; i++) {
                assertThat(inbox.run("payments", message, Transaction::nothingToDo))
                        .isInstanceOf(Outcome.Duplicate.class);
            }
            assertThat(db.number(next) - before)
                    .as("apart from what the server does")
                    .isLessThan(20);
            org.awaitility.Awaitility.await().atMost(Duration.ofSeconds(15)).until(() -> stat(db, "n_tup_ins") == 1);
            assertThat(stat(db, "n_tup_upd") + stat(db, "n_tup_del") + stat(db, "n_dead_tup"))
                    .isZero();
        }
    }

    private static long stat(Db db, String column) {
        return db.number("SELECT " + column + " FROM pg_stat_user_tables WHERE relname = 'idem_marker'");
    }

    @Test
    @DisplayName("PG-37 a column that is added while messages flow stops none of them")
    void aMigrationStopsNothing() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox(db.pool(2, "prepareThreshold=1"))) {
            AtomicBoolean stop = new AtomicBoolean();
            Future<Integer> flow = Together.start(() -> {
                int n = 0;
                while (!stop.get()) {
                    String id = "m" + n++;
                    assertThat(inbox.run("payments", Db.message(id), tx -> Db.pay(tx.connection(), id)))
                            .isInstanceOf(Outcome.Processed.class);
                    assertThat(inbox.run("payments", Db.message(id), Transaction::nothingToDo))
                            .isInstanceOf(Outcome.Duplicate.class);
                }
                return n;
            });
            for (int i = 0; i < 5; i++) {
                long seen = db.payments();
                org.awaitility.Awaitility.await().until(() -> flow.isDone() || db.payments() > seen + 5);
                db.execute("ALTER TABLE idem_marker ADD COLUMN note" + i + " text");
            }
            stop.set(true);
            long paid = Together.get(flow); // before it has ended it may pay once more
            assertThat(db.payments()).isEqualTo(paid);
        }
    }
}
