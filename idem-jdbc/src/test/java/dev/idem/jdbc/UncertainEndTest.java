package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.ResultCodec;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.schema.Database;
import dev.idem.join.JoinedFailure;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ends of a unit that are easily taken for another one. */
class UncertainEndTest {
    private static final Message MESSAGE = InlineTest.message("order-1", "pay");

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-02 an Error out of the rollback never lets the failed handler's work be committed")
    void anErrorOutOfTheRollback(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox setUp = Inbox.create(db.store())) {
            setUp.register(Consumer.of("payments"));
            try (Inbox inbox = Inbox.create(db.store(withoutRollback(db.plain())))) {
                assertThatThrownBy(() -> inbox.run("payments", MESSAGE, tx -> {
                            Db.pay(tx.connection(), "order-1");
                            throw new IllegalStateException("half-way");
                        }))
                        .isInstanceOf(Throwable.class);
            }
            assertThat(db.payments()).isZero();
            assertThat(db.markers()).isZero();
            assertThat(setUp.run("payments", MESSAGE, tx -> Db.pay(tx.connection(), "order-1")))
                    .isInstanceOf(Outcome.Processed.class);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    @DisplayName("PC-09 PG-15 a hidden commit whose connection is then lost is not answered as a duplicate, in any run")
    void aHiddenCommitWithALostConnection(int run) throws Exception {
        Consumer consumer = Consumer.named("payments")
                .policy(Policy.defaults().withMaxRuns(run))
                .build();
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = Inbox.create(db.store())) {
            assertThatThrownBy(() -> inbox.run(consumer, MESSAGE, tx -> {
                        if (tx.run() < run) {
                            tx.connection().createStatement().execute("SELECT pg_terminate_backend(pg_backend_pid())");
                        }
                        Db.pay(tx.connection(), "order-1");
                        try (Statement statement = tx.connection().createStatement()) {
                            statement.execute("SELECT 1; COMMIT");
                            statement.execute("SELECT pg_terminate_backend(pg_backend_pid())");
                        }
                    }))
                    .isInstanceOfSatisfying(
                            BrokenTransactionException.class,
                            broken -> assertThat(broken.leftBehind()).isTrue());
        }
    }

    @Test
    @DisplayName("PG-37 a feature the database lacks is the handler's failure, not an outage")
    void anUnsupportedFeatureIsTheHandlersFailure() {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox inbox = Inbox.create(db.store())) {
            Consumer consumer = Consumer.named("payments")
                    .otherwise((message, tx) ->
                            tx.connection().createStatement().executeQuery("SELECT count(*) FROM payment FOR UPDATE"))
                    .build();
            assertThat(inbox.accept(consumer, MESSAGE))
                    .isInstanceOfSatisfying(
                            Outcome.Failed.class,
                            failed -> assertThat(failed.kind()).isEqualTo(Failure.RETRYABLE));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a result that is left over from a deleted marker is replaced")
    void aLeftOverResultIsReplaced(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = Inbox.create(db.store())) {
            Consumer consumer = Consumer.of("payments");
            inbox.process(consumer, MESSAGE, ResultCodec.text(), tx -> paid(tx.connection(), "first"));
            db.execute("DELETE FROM idem_marker");
            inbox.process(consumer, MESSAGE, ResultCodec.text(), tx -> paid(tx.connection(), "second"));
            Outcome<String> again = inbox.process(consumer, MESSAGE, ResultCodec.text(), tx -> "never");
            assertThat(((Outcome.Duplicate<String>) again).storedResult()).contains("second");
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-16 two stores that join one transaction do not undo each other's messages")
    void twoStoresJoinOneTransaction(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox first = Inbox.create(db.store());
                Inbox second = Inbox.create(db.store());
                Connection outer = db.plain().getConnection()) {
            first.register(Consumer.of("a"));
            first.register(Consumer.of("b"));
            outer.setAutoCommit(false);
            assertThatThrownBy(() -> first.within(outer, JoinedFailure.UNDO_TO_SAVEPOINT)
                            .process("a", MESSAGE, tx -> {
                                Db.pay(tx.connection(), "a");
                                second.within(tx.connection())
                                        .process("b", MESSAGE, inner -> paid(inner.connection(), "b"));
                                throw new IllegalStateException("a fails");
                            }))
                    .hasMessage("a fails");
            outer.commit();
            assertThat(db.payments()).isZero();
            assertThat(db.markers()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-13 a message twice in one outer transaction is settled by what becomes of that transaction")
    void twiceInOneOuterTransaction(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                Inbox inbox = Inbox.create(db.store());
                Connection outer = db.plain().getConnection()) {
            inbox.register(Consumer.of("payments"));
            outer.setAutoCommit(false);
            var joined = inbox.within(outer);
            joined.process("payments", MESSAGE, tx -> paid(tx.connection(), "order-1"));
            var repeated = joined.process("payments", MESSAGE, tx -> paid(tx.connection(), "order-1"));
            outer.rollback();
            assertThat(repeated.outcome()).isInstanceOf(Outcome.Duplicate.class);
            assertThat(repeated.settlement(false)).isEqualTo(dev.idem.Settlement.RETRY);
            assertThat(repeated.settlement(true)).isEqualTo(dev.idem.Settlement.ACK);
            assertThat(inbox.run("payments", MESSAGE, tx -> Db.pay(tx.connection(), "order-1")))
                    .isInstanceOf(Outcome.Processed.class);
        }
    }

    private static String paid(Connection connection, String result) throws SQLException {
        Db.pay(connection, "order-1");
        return result;
    }

    /** Connections whose rollback ends in an Error, as when a class cannot be loaded any more. */
    private static DataSource withoutRollback(DataSource source) {
        return new UnitDataSource(() -> {
            Connection real = source.getConnection();
            return (Connection) Proxy.newProxyInstance(
                    UncertainEndTest.class.getClassLoader(),
                    new Class<?>[] {Connection.class},
                    (proxy, method, args) -> {
                        if (method.getName().equals("rollback")) {
                            throw new NoClassDefFoundError("gone");
                        }
                        try {
                            return method.invoke(real, args);
                        } catch (InvocationTargetException failure) {
                            throw failure.getTargetException();
                        }
                    });
        });
    }
}
