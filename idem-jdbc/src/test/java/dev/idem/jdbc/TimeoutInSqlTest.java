package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.HandlerTimeoutException;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Policy;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A handler that is stuck inside a statement when its time is up. */
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
}
