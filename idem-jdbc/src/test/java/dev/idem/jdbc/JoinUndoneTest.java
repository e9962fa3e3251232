package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.StoreException;
import dev.idem.jdbc.schema.Database;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A joined message that was not answered leaves nothing that its owner could commit, wherever it failed. */
class JoinUndoneTest {
    private static final Duration OLD = Duration.ofDays(30);

    @Test
    @DisplayName("a joined message whose horizon is locked is neither marked nor taken for done")
    void aLockedHorizonLeavesNoMarker() throws Exception {
        try (History history = new History(Database.MARIADB);
                Connection sweep = history.db.plain().getConnection();
                Connection outer = history.db.plain().getConnection()) {
            execute(outer, "SET SESSION innodb_lock_wait_timeout = 1");
            outer.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            outer.setAutoCommit(false);
            sweep.setAutoCommit(false);
            execute(sweep, "UPDATE idem_retention SET horizon = horizon");
            assertThatThrownBy(() -> history.inbox
                            .within(outer)
                            .process(History.PAYMENTS, History.message("1", OLD), JoinFixture.paying("1")))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("horizon");
            sweep.rollback();
            ownerGoesOn(history.db, (JdbcStore) history.inbox.store(), outer);
            assertThat(history.pay(History.message("1", OLD))).isInstanceOf(Outcome.Processed.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a joined message whose horizon cannot be read leaves the owner and the thread as they were")
    void anUnreadableHorizonLeavesNoMarker(Database database) throws Exception {
        try (History history = new History(database);
                Connection outer = history.db.plain().getConnection()) {
            outer.setAutoCommit(false);
            Connection failing = failingAt(outer, "idem_retention", false);
            assertThatThrownBy(() -> history.inbox
                            .within(failing)
                            .process(History.PAYMENTS, History.message("1", OLD), JoinFixture.paying("1")))
                    .hasMessage("the driver is broken");
            ownerGoesOn(history.db, (JdbcStore) history.inbox.store(), outer);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a driver that fails after the insert of the marker leaves no marker with the owner")
    void aDriversExceptionAfterTheInsertLeavesNoMarker(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database)) {
            fixture.inbox.register(Consumer.of("payments"));
            Connection failing = failingAt(fixture.outer, "INSERT INTO", true);
            assertThatThrownBy(() -> JoinFixture.pay(fixture.inbox.within(failing), "1", "pay"))
                    .hasMessage("the driver is broken");
            ownerGoesOn(fixture.db, (JdbcStore) fixture.inbox.store(), fixture.outer);
            assertThat(fixture.inbox.process("payments", JoinFixture.message("1"), JoinFixture.paying("1")))
                    .isInstanceOf(Outcome.Processed.class);
        }
    }

    /** The owner commits what is its own, and so does whoever uses the store's data source on this thread. */
    private static void ownerGoesOn(Db db, JdbcStore store, Connection outer) throws SQLException {
        Db.pay(outer, "owner");
        outer.commit();
        assertThat(db.markers()).isZero();
        assertThat(db.payments("owner")).isEqualTo(1);
        try (Connection ordinary = store.dataSource().getConnection()) {
            Db.pay(ordinary, "ordinary");
        }
        assertThat(db.payments("ordinary")).isEqualTo(1);
    }

    @Test
    @DisplayName("PC-10 a joined handler that commits in a procedure and returns is not answered as processed")
    void aHiddenCommitIsToldBeforeTheAnswer() throws Exception {
        try (JoinFixture fixture = new JoinFixture(Database.MARIADB)) {
            fixture.db.execute("CREATE PROCEDURE treacherous() COMMIT");
            assertThatThrownBy(() -> fixture.joined.process("payments", JoinFixture.message("1"), tx -> {
                        execute(tx.connection(), "CALL treacherous()");
                        Db.pay(tx.connection(), "1");
                        return true;
                    }))
                    .isInstanceOfSatisfying(
                            BrokenTransactionException.class,
                            broken -> assertThat(broken.leftBehind()).isTrue());
            assertThatThrownBy(fixture.outer::commit).isInstanceOf(SQLException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "HX-01 a joined handler whose thread still writes when it returns is undone, and the owner cannot commit")
    void aStrayThreadIsUndone(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database);
                Connection blocker = fixture.begin()) {
            fixture.inbox.register(Consumer.of("payments"));
            fixture.db.execute("CREATE TABLE account (id INT)", "INSERT INTO account VALUES (1)");
            execute(blocker, "UPDATE account SET id = 2");
            execute(fixture.outer, lockTimeout(database));
            Message message = JoinFixture.message("1");
            assertThatThrownBy(() -> fixture.joined.process("payments", message, tx -> {
                        Connection connection = tx.connection();
                        Db.pay(connection, "1");
                        Together.start(() -> {
                            execute(connection, "UPDATE account SET id = 3");
                            return true;
                        });
                        fixture.db.awaitBlocked(1);
                        return true;
                    }))
                    .isInstanceOf(BrokenTransactionException.class)
                    .hasMessageContaining("thread");
            assertThatThrownBy(fixture.outer::commit).isInstanceOf(SQLException.class);
            blocker.rollback();
            await().atMost(Duration.ofSeconds(30)).until(() -> redelivered(fixture.inbox, message));
            assertThat(fixture.db.payments()).isEqualTo(1);
            assertThat(fixture.db.markers()).isEqualTo(1);
        }
    }

    /** Longer than anybody waits for a stray call. H2 cannot end it from outside, so it must end by itself. */
    private static String lockTimeout(Database database) {
        return switch (database) {
            case POSTGRESQL -> "SET lock_timeout = '60s'";
            case MARIADB -> "SET SESSION innodb_lock_wait_timeout = 60";
            case H2 -> "SET LOCK_TIMEOUT 8000";
        };
    }

    private static boolean redelivered(Inbox inbox, Message message) throws SQLException {
        return inbox.process("payments", message, JoinFixture.paying("1")) instanceof Outcome.Processed;
    }

    /** Statements with this text are not sent, or sent and not answered, but end in an exception of the driver's own. */
    private static Connection failingAt(Connection real, String sql, boolean sent) {
        return proxy(Connection.class, real, (method, args) -> {
            Object answer = invoke(real, method, args);
            if (answer instanceof PreparedStatement statement && ((String) args[0]).contains(sql)) {
                return proxy(PreparedStatement.class, statement, (call, values) -> {
                    if (!call.getName().startsWith("execute")) {
                        return invoke(statement, call, values);
                    }
                    if (sent) {
                        invoke(statement, call, values);
                    }
                    throw new IllegalStateException("the driver is broken");
                });
            }
            return answer;
        });
    }

    private interface Calls {
        Object call(java.lang.reflect.Method method, Object[] args) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, T real, Calls calls) {
        return type.cast(Proxy.newProxyInstance(
                JoinUndoneTest.class.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, args) -> switch (method.getName()) {
                    case "hashCode" -> System.identityHashCode(real);
                    case "equals" -> proxy == args[0];
                    default -> calls.call(method, args);
                }));
    }

    private static Object invoke(Object target, java.lang.reflect.Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException failure) {
            throw failure.getTargetException();
        }
    }

    static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
