package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.HandlerTimeoutException;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Statements that do not end: of a handler whose time is up, and of a thread it left behind. */
class TimeoutInSqlTest {
    private static final Duration LIMIT = Duration.ofMillis(500);
    private static final Consumer SLOW = Consumer.named("payments")
            .policy(Policy.defaults().withHandlerTimeout(LIMIT))
            .build();

    @ParameterizedTest
    @CsvSource({"POSTGRESQL, SELECT pg_sleep(3)", "MARIADB, SELECT SLEEP(3)"})
    @DisplayName("PC-24 a handler stuck in a statement is cut off, and its connection is not used again")
    void aStuckStatementIsCutOff(Database database, String sql) throws Exception {
        try (Db db = Db.fresh(database);
                HikariDataSource pool = db.pool(1);
                Inbox inbox = db.inbox(pool)) {
            inbox.run("payments", Db.message("warm"), tx -> Db.pay(tx.connection(), "warm"));
            long start = System.nanoTime();
            assertThatThrownBy(() -> inbox.process(SLOW, Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        try (Statement statement = tx.connection().createStatement()) {
                            return statement.execute(sql);
                        }
                    }))
                    .isInstanceOf(HandlerTimeoutException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMillis(2_900));
            assertThat(inbox.run("payments", Db.message("2"), tx -> Db.pay(tx.connection(), "2")))
                    .isInstanceOf(Outcome.Processed.class);
            // PostgreSQL goes on sleeping until it looks at its client again; until then the key is busy, never a
            // duplicate.
            await().atMost(Duration.ofSeconds(10))
                    .until(() -> inbox.run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "1"))
                            instanceof Outcome.Processed);
            assertThat(db.payments("1")).isEqualTo(1);
            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        }
    }

    @Test
    @DisplayName("PC-24 a handler that waits for a lock of H2 is ended by the lock timeout, and nothing of it is left")
    void aHandlerThatWaitsForALockOfH2IsEnded() throws Exception {
        try (Db db = Db.fresh(Database.H2);
                HikariDataSource pool = db.pool(1, "LOCK_TIMEOUT=1500");
                Connection blocker = db.plain().getConnection();
                Inbox inbox = db.inbox(pool)) {
            db.execute("CREATE TABLE account (id INT PRIMARY KEY, amount INT)", "INSERT INTO account VALUES (1, 0)");
            blocker.setAutoCommit(false);
            blocker.createStatement().executeUpdate("UPDATE account SET amount = 1");
            assertThatThrownBy(() -> inbox.process(SLOW, Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        try (Statement statement = tx.connection().createStatement()) {
                            return statement.execute("UPDATE account SET amount = 2");
                        }
                    }))
                    .isInstanceOf(HandlerTimeoutException.class);
            assertThat(db.payments()).isZero();
            assertThat(db.markers()).isZero();
            assertThat(inbox.run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "1")))
                    .isInstanceOf(Outcome.Processed.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-01 a statement of a stray thread that does not end is torn down with the transaction, and loudly")
    void aStrayStatementThatDoesNotEndIsTornDown(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Connection blocker = db.plain().getConnection();
                Inbox inbox =
                        db.inbox(db.pool(2, database == Database.H2 ? "LOCK_TIMEOUT=8000" : "tcpKeepAlive=true"))) {
            db.execute("CREATE TABLE account (id INT PRIMARY KEY, amount INT)", "INSERT INTO account VALUES (1, 0)");
            blocker.setAutoCommit(false);
            blocker.createStatement().executeUpdate("UPDATE account SET amount = 1");
            AtomicReference<Future<Throwable>> stray = new AtomicReference<>();
            assertThatThrownBy(() -> inbox.run("payments", Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        Connection connection = tx.connection();
                        stray.set(Together.start(() -> catchThrowable(
                                () -> connection.createStatement().executeUpdate("UPDATE account SET amount = 2"))));
                        db.awaitBlocked(1);
                    }))
                    .isInstanceOf(BrokenTransactionException.class)
                    .hasMessageContaining("still using its transaction");
            assertThat(Together.get(stray.get())).isInstanceOf(SQLException.class);
            blocker.rollback();
            assertThat(db.payments("1")).isZero();
            assertThat(db.markers()).isZero();
            assertThat(inbox.run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "1")))
                    .isInstanceOf(Outcome.Processed.class);
        }
    }
}
