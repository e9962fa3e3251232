package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Settlement;
import dev.idem.Transaction;
import dev.idem.spi.FaultPoint;
import dev.idem.spi.Guarantee;
import dev.idem.test.CrashPoint;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What a store must do whose handlers write through the transaction of the marker. Every test of the {@link
 * MarkerStoreContract} then also counts the rows that were written.
 *
 * <pre>{@code
 * protected void effect(Transaction tx, String id) throws SQLException {
 *     try (var insert = tx.connection().prepareStatement("insert into effect (id) values (?)")) { … }
 * }
 * protected int effects(String id) throws SQLException { … select count(*) from effect where id = ? … }
 * }</pre>
 */
public abstract class TransactionalStoreContract extends MarkerStoreContract {

    /** Writes one row through the transaction. The id has 36 ASCII characters and must not be unique in the table. */
    protected abstract void effect(Transaction tx, String id) throws SQLException;

    /** Counts the committed rows of that id, through a connection of its own. */
    protected abstract int effects(String id) throws SQLException;

    @Override
    final void writeEffect(Transaction tx, String effect) throws SQLException {
        effect(tx, effect);
    }

    @Override
    final int countEffects(String effect) throws SQLException {
        return effects(effect);
    }

    @Test
    @DisplayName("PC-02 PC-11 a crash at any step leaves all or nothing, and the redelivery completes it")
    void crashAtAnyStepLeavesAllOrNothing() throws Exception {
        Inbox next = inbox();
        for (FaultPoint step : List.of(
                FaultPoint.BEFORE_CLAIM,
                FaultPoint.AFTER_CLAIM,
                FaultPoint.BEFORE_HANDLER,
                FaultPoint.AFTER_HANDLER,
                FaultPoint.BEFORE_COMMIT,
                FaultPoint.AFTER_COMMIT,
                FaultPoint.BEFORE_SETTLEMENT)) {
            for (CrashPoint crash : List.of(
                    CrashPoint.at(step).throwException(), CrashPoint.at(step).throwError())) {
                Message message = message(fresh());
                Inbox dying = inbox(Inbox.builder(store()).steps(crash));
                assertThatThrownBy(() -> deliver(dying, message)).hasMessageContaining(step.name());
                assertThat(crash.fired()).isTrue();
                boolean committed = step == FaultPoint.AFTER_COMMIT || step == FaultPoint.BEFORE_SETTLEMENT;
                assertThat(effects(effectOf(message)))
                        .as("after a crash at %s", step)
                        .isEqualTo(committed ? 1 : 0);
                assertThat(deliver(next, message).settlement()).isEqualTo(Settlement.ACK);
                assertThat(effects(effectOf(message)))
                        .as("after a crash at %s and redelivery", step)
                        .isEqualTo(1);
            }
        }
    }

    @Test
    @DisplayName("PC-02 a crash around the rollback of a failed handler leaves nothing")
    void crashAroundTheRollbackLeavesNothing() throws Exception {
        for (FaultPoint step : List.of(FaultPoint.BEFORE_ROLLBACK, FaultPoint.AFTER_ROLLBACK)) {
            Message message = message(fresh());
            CrashPoint crash = CrashPoint.at(step).throwError();
            Inbox dying = inbox(Inbox.builder(store()).steps(crash));
            assertThatThrownBy(() -> deliver(dying, consumer(), message, tx -> {
                        throw new SQLException("the handler fails");
                    }))
                    .isInstanceOf(CrashPoint.CrashError.class);
            assertNothingLeft(message);
            assertThat(deliver(inbox(), message)).isInstanceOf(Outcome.Processed.class);
            assertDoneOnce(message);
        }
    }

    @Test
    @DisplayName("PC-07 a handler that swallows an SQL error is never acknowledged without its effect")
    void swallowedErrorIsNotAcknowledgedWithoutEffect() throws Exception {
        Inbox inbox = inbox();
        Message message = message(fresh());
        boolean acknowledged = acknowledged(() -> deliver(inbox, consumer(), message, tx -> {
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute("select no_such_column from no_such_table");
            } catch (SQLException swallowed) {
                return "as if nothing had happened";
            }
            return "never";
        }));
        assertThat(effects(effectOf(message))).isEqualTo(acknowledged ? 1 : 0);
        deliver(inbox, message);
        assertThat(effects(effectOf(message))).isEqualTo(1);
    }

    @Test
    @DisplayName("PC-09 the handler's connection refuses what would end the transaction")
    void guardedConnectionRefusesToEnd() throws Exception {
        Inbox inbox = inbox();
        for (Misuse misuse : List.<Misuse>of(
                Connection::commit,
                Connection::rollback,
                connection -> connection.setAutoCommit(true),
                connection -> connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE),
                connection -> connection.abort(Runnable::run))) {
            Message message = message(fresh());
            boolean acknowledged = acknowledged(() -> deliver(inbox, consumer(), message, tx -> {
                assertThatThrownBy(() -> misuse.of(tx.connection())).isInstanceOf(Exception.class);
                return "went on";
            }));
            assertThat(effects(effectOf(message))).isEqualTo(acknowledged ? 1 : 0);
            deliver(inbox, message);
            assertThat(effects(effectOf(message))).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("PC-09 connections of the transaction's data source may be closed, and are the same transaction")
    void dataSourceIsTheSameTransaction() throws Exception {
        Inbox inbox = inbox();
        Message message = message(fresh());
        assertThatThrownBy(() -> deliver(inbox, consumer(), message, tx -> {
                    for (int i = 0; i < 3; i++) {
                        try (Connection connection = tx.dataSource().getConnection()) {
                            assertThat(connection.isClosed()).isFalse();
                        }
                    }
                    effect(tx, effectOf(message));
                    throw new SQLException("and now everything is undone");
                }))
                .isInstanceOf(SQLException.class);
        assertNothingLeft(message);
    }

    @Test
    @DisplayName("HX-01 PC-24 a stray thread cannot write after the handler has returned")
    void strayThreadCannotWriteLater() throws Exception {
        Inbox inbox = inbox();
        Message message = message(fresh());
        List<Transaction> kept = new ArrayList<>();
        List<Connection> connection = new ArrayList<>();
        deliver(inbox, consumer(), message, tx -> {
            kept.add(tx);
            connection.add(tx.connection());
            return "done";
        });
        assertThatThrownBy(() -> effect(kept.get(0), effectOf(message))).isInstanceOf(Exception.class);
        assertThatThrownBy(() -> connection.get(0).createStatement()).isInstanceOf(Exception.class);
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("PC-24 a handler that was timed out cannot write into the next message's transaction")
    void zombieCannotWriteIntoTheNextTransaction() throws Exception {
        Inbox inbox = inbox();
        Message late = message(fresh());
        CountDownLatch timedOut = new CountDownLatch(1);
        Future<Outcome<String>> zombie =
                start(() -> deliver(inbox, consumer(p -> p.withHandlerTimeout(SHORT)), late, tx -> {
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException ignoredByAZombie) {
                        timedOut.countDown();
                    }
                    await(timedOut);
                    for (int i = 0; i < 20; i++) {
                        assertThatThrownBy(() -> effect(tx, effectOf(late))).isInstanceOf(Exception.class);
                        Thread.sleep(5);
                    }
                    return "too late";
                }));
        await(timedOut);
        Message next = message(fresh());
        assertThat(deliver(inbox, next)).isInstanceOf(Outcome.Processed.class);
        assertThatThrownBy(() -> result(zombie)).isInstanceOf(java.util.concurrent.ExecutionException.class);
        assertNothingLeft(late);
        assertDoneOnce(next);
        assertThat(deliver(inbox, late)).isInstanceOf(Outcome.Processed.class);
        assertDoneOnce(late);
    }

    @Test
    @DisplayName("PC-10 a handler that runs DDL is never acknowledged without its effect, nor doubled")
    void ddlDoesNotLoseOrDoubleTheEffect() throws Exception {
        Inbox inbox = inbox();
        Message message = message(fresh());
        String table = "contract_" + effectOf(message).substring(0, 8);
        boolean acknowledged = acknowledged(() -> deliver(inbox, consumer(), message, tx -> {
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute("create table " + table + " (id int)");
            }
            return "done";
        }));
        int effects = effects(effectOf(message));
        assertThat(acknowledged ? effects == 1 : effects <= 1).isTrue();
        boolean again = acknowledged(() -> deliver(inbox, message));
        assertThat(effects(effectOf(message))).isEqualTo(again ? 1 : effects);
    }

    @Test
    @DisplayName("PC-21 a handler that sends nothing through its transaction can be refused")
    void unusedTransactionCanBeRefused() throws Exception {
        Inbox inbox = inbox();
        Message message = message(fresh());
        var strict = consumer(p -> p.withUnusedTransaction(Policy.UnusedTransaction.REFUSE));
        assertThatThrownBy(() -> inbox.process(strict, message, tx -> "wrote elsewhere"))
                .hasMessageContaining("sent nothing through its transaction");
        assertThat(deliver(inbox, strict, message)).isInstanceOf(Outcome.Processed.class);
        assertDoneOnce(message);
    }

    @Test
    @DisplayName("a store whose handlers write through its transaction promises exactly once")
    void guaranteeIsExactlyOnce() throws Exception {
        assertThat(sharedStore().guarantee()).isEqualTo(Guarantee.EXACTLY_ONCE);
    }

    private static boolean acknowledged(DeliveryCall call) {
        try {
            return call.deliver().settlement() == Settlement.ACK;
        } catch (Exception notAcknowledged) {
            return false;
        }
    }

    private interface DeliveryCall {
        Outcome<String> deliver() throws Exception;
    }

    private interface Misuse {
        void of(Connection connection) throws SQLException;
    }
}
