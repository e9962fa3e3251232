package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Settlement;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A handler that hides an SQL error from Idem must not end in an acknowledgement. */
class SwallowedErrorTest {
    @Test
    @Tag("second-pass")
    @DisplayName(
            "PC-07 a swallowed error on PostgreSQL is not acknowledged, leaves nothing, and the message comes again")
    void aSwallowedErrorIsNotAcknowledged() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox()) {
            assertThatThrownBy(() -> inbox.run("payments", Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        swallow(tx.connection(), "INSERT INTO no_such_table VALUES (1)");
                    }))
                    .isInstanceOfSatisfying(
                            BrokenTransactionException.class,
                            broken -> assertThat(broken.leftBehind()).isFalse())
                    .hasMessageContaining("payments/1")
                    .hasMessageContaining("swallowed an SQL error");
            assertThat(db.payments()).isZero();
            assertThat(db.markers()).isZero();
            assertThat(inbox.run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "1")))
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(db.payments("1")).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("PC-07 accept answers a swallowed error with RETRY")
    void aSwallowedErrorIsRetried() {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox()) {
            Consumer consumer = Consumer.named("payments")
                    .otherwise((message, tx) -> swallow(tx.connection(), "SELECT 1/0"))
                    .build();
            Outcome<?> outcome = inbox.accept(consumer, Db.message("1"));
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed -> assertThat(failed.kind()).isEqualTo(Failure.RETRYABLE));
            assertThat(outcome.settlement()).isEqualTo(Settlement.RETRY);
            assertThat(db.markers()).isZero();
        }
    }

    @Test
    @Tag("second-pass")
    @DisplayName("PC-08 a swallowed deadlock that undid the transaction is not acknowledged and leaves nothing")
    void aSwallowedDeadlockIsNotAcknowledged() throws Exception {
        try (Db db = Db.fresh(Database.MARIADB);
                Inbox inbox = db.inbox()) {
            Deadlock.prepare(db);
            assertThatThrownBy(() -> inbox.run("payments", Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "before");
                        loseADeadlock(db, tx.connection());
                        Db.pay(tx.connection(), "after");
                    }))
                    .isInstanceOfSatisfying(
                            BrokenTransactionException.class,
                            broken -> assertThat(broken.leftBehind()).isFalse());
            assertThat(db.payments()).isZero();
            assertThat(db.markers()).isZero();
            assertThat(inbox.run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "1")))
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(db.payments()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("PC-08 EM-03 H2 undoes only the statement that met a deadlock, so all the rest commits together")
    void aSwallowedDeadlockOnH2LeavesTheTransactionWhole() throws Exception {
        try (Db db = Db.fresh(Database.H2);
                Inbox inbox = db.inbox()) {
            Deadlock.prepare(db);
            inbox.run("payments", Db.message("1"), tx -> {
                Db.pay(tx.connection(), "before");
                loseADeadlock(db, tx.connection());
                Db.pay(tx.connection(), "after");
            });
            assertThat(db.payments("before")).isEqualTo(1);
            assertThat(db.payments("after")).isEqualTo(1);
            assertThat(db.markers()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"autosave=always", "autosave=conservative"})
    @DisplayName("PC-07 where the driver undoes only the failed statement, the rest is committed and confirmed")
    void theDriversOwnSavepointsAreUnderstood(String option) throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox(db.pool(1, option, "cleanupSavepoints=true"))) {
            for (String id : new String[] {"1", "2", "3"}) {
                assertThat(inbox.run("payments", Db.message(id), tx -> {
                            Db.pay(tx.connection(), id);
                            if (option.endsWith("always")) {
                                swallow(tx.connection(), "SELECT 1/0");
                            }
                        }))
                        .isInstanceOf(Outcome.Processed.class);
                assertThat(inbox.run("payments", Db.message(id), tx -> Db.pay(tx.connection(), id)))
                        .isInstanceOf(Outcome.Duplicate.class);
                assertThat(db.payments(id)).isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-09 a handler that removes its own marker is not acknowledged and leaves nothing")
    void aRemovedMarkerIsFoundOut(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = db.inbox()) {
            assertThatThrownBy(() -> inbox.run("payments", Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        tx.connection().createStatement().executeUpdate("DELETE FROM idem_marker");
                    }))
                    .isInstanceOf(BrokenTransactionException.class);
            assertThat(db.payments()).isZero();
            assertThat(inbox.run("payments", Db.message("1"), tx -> Db.pay(tx.connection(), "1")))
                    .isInstanceOf(Outcome.Processed.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"autosave=always", "autosave=never"})
    @DisplayName("PC-09 what a hidden commit left behind is found, also where the driver sets savepoints of its own")
    void whatIsLeftBehindIsFound(String option) {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = db.inbox(db.pool(1, option))) {
            assertThatThrownBy(() -> inbox.run("payments", Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        tx.connection().createStatement().execute("SELECT 1; COMMIT");
                    }))
                    .isInstanceOfSatisfying(
                            BrokenTransactionException.class,
                            broken -> assertThat(broken.leftBehind()).isTrue());
            assertThat(db.markers()).isEqualTo(1);
        }
    }

    private static void loseADeadlock(Db db, Connection connection) throws Exception {
        try {
            Deadlock.lose(db, connection);
        } catch (SQLException deadlock) {
            assertThat(deadlock.getErrorCode()).isIn(1213, 40001);
        }
    }

    private static boolean swallow(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.execute(sql);
        } catch (SQLException swallowed) {
            return false;
        }
    }
}
