package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.BrokenTransactionException;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.servers.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.TimeZone;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
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
            assertThat(inbox.run("payments", Db.message("1"), tx -> {})).isInstanceOf(Outcome.Duplicate.class);
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
            db.inbox(Db.plain(db.url(zone))).run("payments", Db.message("1"), tx -> {});
            TimeZone.setDefault(TimeZone.getTimeZone("Asia/Kathmandu"));
            assertThat(db.inbox().run("payments", Db.message("1"), tx -> {}))
                    .isInstanceOfSatisfying(
                            Outcome.Duplicate.class,
                            duplicate -> assertThat(duplicate.processedAt())
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
                assertThat(inbox.run("payments", message, tx -> {})).isInstanceOf(Outcome.Duplicate.class);
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
                    assertThat(inbox.run("payments", Db.message(id), tx -> {})).isInstanceOf(Outcome.Duplicate.class);
                }
                return n;
            });
            for (int i = 0; i < 5; i++) {
                long seen = db.payments();
                org.awaitility.Awaitility.await().until(() -> flow.isDone() || db.payments() > seen + 5);
                db.execute("ALTER TABLE idem_marker ADD COLUMN note" + i + " text");
            }
            stop.set(true);
            assertThat(db.payments()).isEqualTo((long) Together.get(flow));
        }
    }
}
