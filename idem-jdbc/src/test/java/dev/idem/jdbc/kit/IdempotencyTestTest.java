package dev.idem.jdbc.kit;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Handler;
import dev.idem.Message;
import dev.idem.PayloadDecoder;
import dev.idem.Transaction;
import dev.idem.jdbc.JdbcStore;
import dev.idem.spi.FaultPoint;
import dev.idem.test.IdempotencyTest;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The kit passes a right handler and finds what is wrong with others. */
class IdempotencyTestTest {
    private static final JdbcConnectionPool DATABASE =
            JdbcConnectionPool.create("jdbc:h2:mem:kit;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=5000", "sa", "");

    @RegisterExtension
    static final IdempotencyTest idem = IdempotencyTest.on(DATABASE)
            .store(JdbcStore::create)
            .schema(
                    "create table account (name varchar(40) primary key, balance int not null)",
                    "create table payment (id bigint generated always as identity primary key,"
                            + " order_id varchar(40), amount int, paid_at timestamp(9) default current_timestamp)",
                    "create table payment_line (payment_id bigint references payment (id), text varchar(100))")
            .fixture("insert into account values ('shop', 1000)")
            .ignoringColumns("paid_at");

    private static final Message FIRST = message("m-1", "order-1");
    private static final Message SECOND = message("m-2", "order-2");

    @AfterAll
    static void shutDown() throws SQLException {
        try (Connection connection = DATABASE.getConnection()) {
            connection.createStatement().execute("SHUTDOWN");
        }
        DATABASE.dispose();
    }

    @Test
    void rightHandlerPassesEverything() {
        idem.deliver(consumer(IdempotencyTestTest::pay), FIRST, SECOND).check();
    }

    @Test
    void rightHandlerPassesEachScenario() {
        var deliveries = idem.deliver(consumer(IdempotencyTestTest::pay), FIRST);
        deliveries.twice().matchesOneCleanDelivery();
        deliveries.times(10).matchesOneCleanDelivery();
        deliveries.allAgain().matchesOneCleanDelivery();
        deliveries.concurrently(8).matchesOneCleanDelivery();
        deliveries.crashingAt(FaultPoint.BEFORE_COMMIT).matchesOneCleanDelivery();
        deliveries.failingStatements().matchesOneCleanDelivery();
        deliveries.losingConnections().matchesOneCleanDelivery();
        deliveries.undoneOnce().matchesOneCleanDelivery();
    }

    @Test
    void deliversInWhateverWayTheServiceDoes() {
        idem.deliver(inbox -> inbox.run("payments", FIRST, tx -> pay("order-1", tx)))
                .check();
    }

    @Test
    void dataSourceOfTheTransactionIsAsGood() {
        idem.deliver(
                        consumer((order, tx) -> {
                            try (Connection connection = tx.dataSource().getConnection()) {
                                pay(connection, order);
                            }
                            return null;
                        }),
                        FIRST)
                .check();
    }

    @Test
    void handlerWithAConnectionOfItsOwnIsFound() {
        assertThatThrownBy(() -> idem.deliver(
                                consumer((order, tx) -> {
                                    touch(tx);
                                    return payElsewhere(DATABASE, order);
                                }),
                                FIRST)
                        .check())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("crash AFTER_HANDLER of message 1")
                .hasMessageContaining("table PAYMENT: 0 row(s) missing, 1 too many")
                .hasMessageContaining("ORDER_ID=order-1, AMOUNT=100")
                .hasMessageContaining("never through a connection of the handler's own");
    }

    @Test
    void handlerThatIgnoresItsTransactionIsFound() {
        assertThatThrownBy(() -> idem.deliver(consumer((order, tx) -> payElsewhere(DATABASE, order)), FIRST)
                        .twice()
                        .matchesOneCleanDelivery())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("sent nothing through its transaction");
    }

    @Test
    void handlerThatRemembersIsFound() {
        assertThatThrownBy(() -> idem.deliver(() -> consumer(remembering()), FIRST)
                        .undoneOnce()
                        .matchesOneCleanDelivery())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("first run undone by a deadlock")
                .hasMessageContaining("missing  ORDER_ID=order-1")
                .hasMessageContaining("keep no state between runs");
    }

    @Test
    void handlerThatRemembersFromOneScenarioToTheNextIsFound() {
        assertThatThrownBy(() -> idem.deliver(consumer(remembering()), FIRST).check())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("a second clean delivery, in emptied tables");
    }

    @Test
    void handlerThatCountsInMemoryIsFound() {
        AtomicInteger total = new AtomicInteger();
        assertThatThrownBy(() -> idem.deliver(
                                () -> {
                                    total.set(0);
                                    return consumer((order, tx) -> {
                                        pay(tx.connection(), order + "/" + total.incrementAndGet());
                                        return null;
                                    });
                                },
                                FIRST,
                                SECOND)
                        .failingStatements()
                        .matchesOneCleanDelivery())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("SQL error in statement 1 of the handler");
    }

    @Test
    void handlerThatSwallowsErrorsIsFound() {
        assertThatThrownBy(() -> idem.deliver(
                                consumer((order, tx) -> {
                                    try {
                                        pay(tx.connection(), order);
                                    } catch (SQLException swallowed) {
                                        return "never mind";
                                    }
                                    return "paid";
                                }),
                                FIRST)
                        .failingStatements()
                        .matchesOneCleanDelivery())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("SQL error in statement 2 of the handler")
                .hasMessageContaining("an SQL error was swallowed");
    }

    @Test
    void valuesThatAreNewEachTimeAreNamed() {
        IdempotencyTest strict = IdempotencyTest.on(DATABASE)
                .store(JdbcStore::create)
                .fixture("insert into account values ('shop', 1000)");
        assertThatThrownBy(() -> strict.deliver(consumer(IdempotencyTestTest::pay), FIRST)
                        .twice()
                        .matchesOneCleanDelivery())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(".ignoringColumns(\"PAYMENT.PAID_AT\")");
    }

    @Test
    void handlerThatFailsAlwaysIsToldApart() {
        assertThatThrownBy(() -> idem.deliver(
                                consumer((order, tx) -> {
                                    throw new IllegalStateException("not even once");
                                }),
                                FIRST)
                        .check())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("Already one clean delivery failed")
                .hasRootCauseMessage("not even once");
    }

    @Test
    void handlerWithoutEffectsHasNothingToCompare() {
        assertThatThrownBy(() -> idem.deliver(
                                consumer((order, tx) -> {
                                    tx.nothingToDo();
                                    return null;
                                }),
                                FIRST)
                        .check())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("changed nothing in the tables [ACCOUNT, PAYMENT, PAYMENT_LINE]");
    }

    @Test
    void someoneElsesDataAreNotDeleted() throws Exception {
        try (Connection connection = DATABASE.getConnection()) {
            connection.createStatement().execute("create table archive as select * from system_range(1, 10001)");
            try {
                assertThatThrownBy(() -> idem.deliver(consumer(IdempotencyTestTest::pay), FIRST)
                                .twice()
                                .matchesOneCleanDelivery())
                        .hasMessageContaining("Refused to empty table ARCHIVE");
                IdempotencyTest careful = IdempotencyTest.on(DATABASE)
                        .store(JdbcStore::create)
                        .fixture("insert into account values ('shop', 1000)")
                        .ignoringColumns("payment.paid_at")
                        .ignoringTables("archive");
                assertThatCode(() -> careful.deliver(consumer(IdempotencyTestTest::pay), FIRST)
                                .twice()
                                .matchesOneCleanDelivery())
                        .doesNotThrowAnyException();
            } finally {
                connection.createStatement().execute("drop table archive");
            }
        }
    }

    private static Handler<String, Object> remembering() {
        Set<String> seen = ConcurrentHashMap.newKeySet();
        return (order, tx) -> {
            touch(tx);
            if (seen.add(order)) {
                pay(tx.connection(), order);
            }
            return null;
        };
    }

    private static Consumer consumer(Handler<String, ?> handler) {
        return Consumer.named("payments")
                .on("order-placed", PayloadDecoder.text(), handler)
                .build();
    }

    private static Message message(String id, String order) {
        return Message.builder()
                .id(id)
                .type("order-placed")
                .payload(order.getBytes(StandardCharsets.UTF_8))
                .build();
    }

    private static String pay(String order, Transaction tx) throws SQLException {
        pay(tx.connection(), order);
        return "paid";
    }

    private static String payElsewhere(DataSource dataSource, String order) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            pay(connection, order);
        }
        return "paid";
    }

    private static void touch(Transaction tx) throws SQLException {
        try (PreparedStatement query = tx.connection().prepareStatement("select 1")) {
            query.executeQuery();
        }
    }

    private static void pay(Connection connection, String order) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("insert into payment (order_id, amount) values (?, 100)")) {
            insert.setString(1, order);
            insert.executeUpdate();
        }
        try (PreparedStatement line = connection.prepareStatement(
                "insert into payment_line select max(id), 'for ' || ? from payment where order_id = ?")) {
            line.setString(1, order);
            line.setString(2, order);
            line.executeUpdate();
        }
        try (PreparedStatement update =
                connection.prepareStatement("update account set balance = balance - 100 where name = 'shop'")) {
            update.executeUpdate();
        }
    }
}
