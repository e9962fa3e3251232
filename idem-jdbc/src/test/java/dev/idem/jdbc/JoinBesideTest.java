package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.NestedProcessingException;
import dev.idem.Outcome;
import dev.idem.jdbc.schema.Database;
import dev.idem.join.Provisional;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A message joins the transaction that its thread is in, and no other one beside it. */
class JoinBesideTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-08 beside an open transaction of the store's data source a message joins that one and no other")
    void anotherThanTheOpenOne(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                JdbcStore store = db.store(db.pool(4));
                Inbox inbox = Inbox.create(store);
                Connection open = begun(store.dataSource());
                Connection foreign = begun(db.plain())) {
            inbox.register(Consumer.of("payments"));
            assertRefused(
                    () -> JoinFixture.pay(inbox.within(foreign), "1", "pay"), "a transaction of store.dataSource()");
            Consumer consumer =
                    Consumer.named("payments").otherwise((message, tx) -> null).build();
            assertRefused(
                    () -> inbox.within(foreign).accept(consumer, JoinFixture.message("1")),
                    "a transaction of store.dataSource()");
            try (Connection second = begun(store.dataSource())) {
                assertRefused(() -> JoinFixture.pay(inbox.within(second), "1", "pay"), "store.dataSource()");
                second.rollback();
            }
            JoinFixture.pay(inbox.within(open), "1", "pay").confirm();
            JoinFixture.pay(inbox.within(wrapped(open)), "2", "pay").confirm();
            open.commit();
            assertThat(db.payments()).isEqualTo(2);
            JoinFixture.pay(inbox.within(foreign), "3", "pay").confirm();
            foreign.commit();
            assertThat(db.markers()).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "HX-08 inside a handler a message joins the handler's transaction by whatever leads to it, and no other")
    void insideAHandler(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                JdbcStore store = db.store(db.pool(4));
                Inbox inbox = Inbox.create(store);
                Connection foreign = begun(db.plain())) {
            inbox.run("payments", Db.message("1"), tx -> {
                Db.pay(tx.connection(), "1");
                assertRefused(
                        () -> JoinFixture.pay(inbox.within(foreign), "2", "pay"), "inbox.within(tx.connection())");
                joining(inbox, tx.dataSource(), "2");
                joining(inbox, store.dataSource(), "3");
                JoinFixture.pay(inbox.within(tx.connection()), "4", "pay").confirm();
            });
            assertThat(db.payments()).isEqualTo(4);
            assertThat(db.markers()).isEqualTo(4);
            Consumer consumer = Consumer.named("payments")
                    .otherwise((message, tx) -> {
                        Db.pay(tx.connection(), message.id().orElseThrow());
                        assertRefused(
                                () -> JoinFixture.pay(inbox.within(foreign), "inner", "pay"),
                                "inbox.within(tx.connection())");
                        return null;
                    })
                    .build();
            assertThat(inbox.acceptAll(consumer, List.of(Db.message("5"), Db.message("6"))))
                    .allMatch(outcome -> outcome instanceof Outcome.Processed);
        }
    }

    private static void joining(Inbox inbox, DataSource source, String id) throws SQLException {
        try (Connection connection = begun(source)) {
            JoinFixture.pay(inbox.within(connection), id, "pay").confirm();
            connection.commit();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-08 a message that joins while another one is inside the same connection shares its fate")
    void oneInsideTheOther(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database);
                Connection other = fixture.begin()) {
            Provisional<?> first = fixture.joined.process("payments", JoinFixture.message("1"), tx -> {
                Db.pay(tx.connection(), "1");
                assertRefused(
                        () -> JoinFixture.pay(fixture.inbox.within(other), "2", "pay"),
                        "inbox.within(tx.connection())");
                Provisional<?> second = fixture.pay("2");
                Provisional<?> third = JoinFixture.pay(fixture.inbox.within(tx.connection()), "3", "pay");
                second.confirm();
                third.confirm();
                return true;
            });
            Provisional<?> last = fixture.pay("4");
            last.confirm();
            first.confirm();
            assertThatThrownBy(() -> fixture.undoing.process("payments", JoinFixture.message("5"), tx -> {
                        fixture.pay("6");
                        throw new IllegalStateException("5 fails");
                    }))
                    .hasMessage("5 fails");
            last.confirm();
            fixture.outer.commit();
            assertThat(fixture.db.payments()).isEqualTo(4);
            assertThat(fixture.db.markers()).isEqualTo(4);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "PC-10 an earlier message is not confirmed inside a later one's handler, and nobody is said to have committed")
    void aConfirmInsideALaterHandler(Database database) throws Exception {
        try (JoinFixture fixture = new JoinFixture(database)) {
            Provisional<?> first = fixture.pay("1");
            assertThatThrownBy(() -> fixture.undoing.process("payments", JoinFixture.message("2"), tx -> {
                        Db.pay(tx.connection(), "2");
                        first.confirm();
                        return true;
                    }))
                    .isInstanceOf(NestedProcessingException.class)
                    .hasMessageContainingAll("inside the handler of payments/2", "when that handler has returned");
            assertThatThrownBy(() -> fixture.undoing.process("payments", JoinFixture.message("3"), tx -> {
                        Db.pay(tx.connection(), "3");
                        assertThatThrownBy(first::confirm).isInstanceOf(NestedProcessingException.class);
                        throw new IllegalStateException("3 fails");
                    }))
                    .hasMessage("3 fails");
            Provisional<?> last = fixture.joined.process("payments", JoinFixture.message("4"), tx -> {
                Db.pay(tx.connection(), "4");
                assertThatThrownBy(first::confirm).isInstanceOf(NestedProcessingException.class);
                fixture.pay("5").confirm();
                return true;
            });
            last.confirm();
            first.confirm();
            fixture.outer.commit();
            assertThat(fixture.db.payments()).isEqualTo(3);
            assertThat(fixture.db.markers()).isEqualTo(3);
            assertThat(fixture.db.payments("2") + fixture.db.payments("3")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-07 a connection of the store's data source that was taken before the handler does not serve it")
    void takenBefore(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                JdbcStore store = db.store(db.pool(3));
                Inbox inbox = Inbox.create(store);
                Connection before = store.dataSource().getConnection()) {
            Db.pay(before, "before");
            assertThatThrownBy(() -> inbox.run("payments", Db.message("1"), tx -> {
                        Db.pay(tx.connection(), "1");
                        Db.pay(before, "1");
                    }))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContainingAll("taken before", "tx.connection()");
            assertThatThrownBy(() -> inbox.run("payments", Db.message("1"), tx -> before.setAutoCommit(false)))
                    .hasMessageContaining("taken before");
            assertThat(db.payments()).isEqualTo(1);
            assertThat(db.markers()).isZero();
            Db.pay(before, "after");
            assertThat(db.payments()).isEqualTo(2);
        }
    }

    private static void assertRefused(ThrowingCallable joining, String reason) {
        assertThatThrownBy(joining)
                .isInstanceOf(NestedProcessingException.class)
                .hasMessageContainingAll("another transaction than its own is open on this thread", reason);
    }

    private static Connection begun(DataSource source) throws SQLException {
        Connection connection = source.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    /** As some frameworks wrap connections: whom they stand for they do not say. */
    private static Connection wrapped(Connection real) {
        return (Connection) Proxy.newProxyInstance(
                JoinBesideTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> {
                    switch (method.getName()) {
                        case "isWrapperFor":
                            return false;
                        case "hashCode":
                            return System.identityHashCode(proxy);
                        case "equals":
                            return proxy == args[0];
                        default:
                    }
                    try {
                        return method.invoke(real, args);
                    } catch (InvocationTargetException failure) {
                        throw failure.getTargetException();
                    }
                });
    }
}
