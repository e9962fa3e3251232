package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.StoreException;
import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.LongLane;
import dev.idem.servers.PostgresServer;
import dev.idem.test.fault.Direction;
import dev.idem.test.fault.TcpFaultProxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The network fails while a commit is on its way. Whether it arrived is decided by claiming again: the marker is there,
 * or the work runs again, or the old transaction still holds the key, and then nothing runs.
 */
class ProxyCommitTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int LENGTHS = 8;
    private static final int STRIDE = LongLane.stride(37);
    private static final int BATCH_STRIDE = LongLane.stride(101);
    private static final AtomicInteger CASES = new AtomicInteger();

    /** Each with a connection of its own, and with one that the pool hands out again. */
    static Stream<Arguments> servers() {
        return Stream.of(Database.POSTGRESQL, Database.MARIADB)
                .flatMap(database -> Stream.of(Arguments.of(database, false), Arguments.of(database, true)));
    }

    private static ProxyBench bench(Database database, boolean reusing) throws SQLException {
        return reusing ? ProxyBench.reusing(database) : new ProxyBench(database);
    }

    @ParameterizedTest
    @MethodSource("servers")
    @DisplayName("PG-15 LV-15 the request of the commit is cut after each of its bytes")
    void aRequestCutAfterEachByte(Database database, boolean reusing) throws Exception {
        try (ProxyBench bench = bench(database, reusing)) {
            int stride = stride(database, reusing);
            int bytes = LongLane.first(stride) - 1;
            // Ids in the request make its length differ a little from one message to the next.
            for (int unharmed = 0; unharmed < LENGTHS; bytes += stride) {
                unharmed = cutAfter(bench, Direction.CLIENT_TO_SERVER, bytes) ? 0 : unharmed + 1;
            }
            report(database + " request", bytes / stride - LENGTHS);
            assertThat(bytes).isGreaterThan(50);
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    @DisplayName("PG-15 LV-15 the reply to the commit is cut after each of its bytes")
    void aReplyCutAfterEachByte(Database database, boolean reusing) throws Exception {
        try (ProxyBench bench = bench(database, reusing)) {
            int stride = stride(database, reusing);
            int bytes = LongLane.first(stride) - 1;
            for (; cutAfter(bench, Direction.SERVER_TO_CLIENT, bytes); bytes += stride) {
                assertThat(bench.runs())
                        .as("runs when %d bytes of the reply came", bytes)
                        .isEqualTo(1);
            }
            report(database + " reply", bytes / stride);
            assertThat(bytes).isGreaterThan(5);
        }
    }

    /** Each byte on PostgreSQL with connections of their own, and in the long lane; else each third one. */
    private static int stride(Database database, boolean reusing) {
        return database == Database.POSTGRESQL && !reusing ? 1 : LongLane.stride(3);
    }

    /** False when the exchange is shorter than that. */
    private static boolean cutAfter(ProxyBench bench, Direction direction, int bytes) throws Exception {
        TcpFaultProxy proxy = bench.proxy();
        int before = proxy.faultsFired();
        Outcome<?> outcome = bench.deliver(() -> proxy.cutAfterBytes(direction, bytes));
        boolean cut = proxy.faultsFired() > before;
        assertThat(outcome).isInstanceOfAny(Outcome.Processed.class, Outcome.Busy.class);
        if (outcome instanceof Outcome.Busy) {
            bench.redeliver(); // the server had not noticed the end of the old connection in time
        }
        bench.checkOnce();
        assertThat(cut || bench.committedUnharmed()).isTrue();
        return !bench.committedUnharmed(); // a cut behind the last byte of the reply does no harm
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void aConnectionCutAnywhereInAUnit(Database database) throws Exception {
        try (ProxyBench bench = new ProxyBench(database)) {
            int cases = 0;
            for (Direction direction : Direction.values()) {
                for (int bytes = 0; cutInUnit(bench, direction, bytes); bytes += STRIDE) {
                    cases++;
                }
            }
            report(database + " anywhere in a unit", cases);
            assertThat(cases).isGreaterThan(20);
        }
    }

    @ParameterizedTest
    @MethodSource("servers")
    @DisplayName("PG-15 LV-15 a connection cut anywhere in a batch loses and doubles nothing")
    void aConnectionCutAnywhereInABatch(Database database, boolean reusing) throws Exception {
        try (ProxyBench bench = bench(database, reusing)) {
            int cases = 0;
            for (Direction direction : Direction.values()) {
                boolean cut = true;
                for (int bytes = 0; cut; bytes += BATCH_STRIDE) {
                    int before = bench.proxy().faultsFired();
                    bench.proxy().cutAfterBytes(direction, bytes);
                    bench.deliverBatch();
                    cut = bench.proxy().faultsFired() > before;
                    bench.proxy().heal();
                    bench.redeliverBatch();
                    cases++;
                }
            }
            report(database + " anywhere in a batch", cases);
            assertThat(cases).isGreaterThan(10);
        }
    }

    /** False when the whole unit, from connecting to the commit, is shorter than that. */
    private static boolean cutInUnit(ProxyBench bench, Direction direction, int bytes) throws Exception {
        int before = bench.proxy().faultsFired();
        bench.proxy().cutAfterBytes(direction, bytes);
        try {
            assertThat(bench.deliver(() -> {})).isInstanceOfAny(Outcome.Processed.class, Outcome.Busy.class);
        } catch (StoreException comesAgain) {
            assertThat(bench.proxy().faultsFired()).isGreaterThan(before);
        }
        bench.proxy().heal();
        bench.redeliver();
        bench.checkOnce();
        return bench.proxy().faultsFired() > before;
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void aResetBeforeTheCommitIsRunAgain(Database database) throws Exception {
        try (ProxyBench bench = new ProxyBench(database)) {
            assertThat(bench.deliver(() -> bench.proxy().cut())).isInstanceOf(Outcome.Processed.class);
            assertThat(bench.runs()).isEqualTo(2);
            bench.checkOnce();
            report(database + " reset", 1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void aRequestThatEndsIsRunAgainAndAReplyThatEndsIsNot(Database database) throws Exception {
        try (ProxyBench bench = new ProxyBench(database)) {
            assertThat(bench.deliver(() -> bench.proxy().halfClose(Direction.CLIENT_TO_SERVER)))
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(bench.runs()).isEqualTo(2);
            bench.checkOnce();

            assertThat(bench.deliver(() -> bench.proxy().halfClose(Direction.SERVER_TO_CLIENT)))
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(bench.runs()).isEqualTo(1);
            bench.checkOnce();
            report(database + " half-close", 2);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void aSlowNetworkIsNoFault(Database database) throws Exception {
        try (ProxyBench bench = new ProxyBench(database)) {
            for (Direction direction : Direction.values()) {
                assertThat(bench.deliver(() -> bench.proxy().delay(direction, Duration.ofMillis(200))))
                        .isInstanceOf(Outcome.Processed.class);
                assertThat(bench.runs()).isEqualTo(1);
                bench.checkOnce();
            }
            report(database + " delay", 2);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void aDatabaseOutOfReachIsAnErrorAndNotAnOutcome(Database database) throws Exception {
        try (ProxyBench bench = new ProxyBench(database)) {
            assertThatThrownBy(() -> bench.deliver(() -> {
                        bench.proxy().refuseNew();
                        bench.proxy().cut();
                    }))
                    .isInstanceOf(StoreException.class);
            bench.proxy().acceptNew();
            assertThat(bench.redeliver()).isInstanceOf(Outcome.Processed.class);
            bench.checkOnce();
            report(database + " out of reach", 1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void aReplyThatStaysAwayIsAnsweredByTheMarker(Database database) throws Exception {
        try (ProxyBench bench = new ProxyBench(database, socketTimeout(database))) {
            assertThat(bench.deliver(() -> {
                        bench.proxy().stall(Direction.SERVER_TO_CLIENT);
                        bench.goAround();
                    }))
                    .isInstanceOf(Outcome.Processed.class);
            assertThat(bench.runs()).isEqualTo(1);
            bench.checkOnce();
            report(database + " stalled reply", 1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void aCommitStillOnItsWayIsBusyAndThenDone(Database database) throws Exception {
        try (ProxyBench bench = stalledOnItsWay(database)) {
            bench.proxy().resume(Direction.CLIENT_TO_SERVER);
            await().atMost(LIMIT).until(() -> bench.effects() == 1);
            bench.checkOnce();
            assertThat(bench.runs()).as("runs").isEqualTo(1);
            report(database + " stalled request, then delivered", 1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    void aCommitThatNeverArrivesIsBusyAndThenRunAgain(Database database) throws Exception {
        try (ProxyBench bench = stalledOnItsWay(database)) {
            bench.proxy().cut();
            assertThat(bench.redeliver()).isInstanceOf(Outcome.Processed.class);
            bench.checkOnce();
            assertThat(bench.runs()).as("runs").isEqualTo(2);
            report(database + " stalled request, then lost", 1);
        }
    }

    /** The client has given up; the server still holds the transaction, and with it the key. */
    private static ProxyBench stalledOnItsWay(Database database) throws Exception {
        ProxyBench bench = new ProxyBench(database, socketTimeout(database)).busyWait(Duration.ofMillis(300));
        assertThat(bench.deliver(() -> {
                    bench.proxy().stall(Direction.CLIENT_TO_SERVER);
                    bench.goAround();
                }))
                .isInstanceOf(Outcome.Busy.class);
        assertThat(bench.runs()).as("runs").isEqualTo(1);
        assertThat(bench.effects()).as("effects").isZero();
        assertThat(bench.openTransactions()).as("transactions on the server").isEqualTo(1);
        return bench;
    }

    @Test
    @DisplayName("PG-17 a commit that waits for a standby is busy, though no SELECT can see it")
    void aCommitThatWaitsForAStandbyIsBusyAndThenDone() throws Exception {
        try (PostgresServer server = PostgresServer.start()) {
            String url = server.jdbcUrl(server.createDatabase());
            DataSource direct = Db.plain(url);
            execute(direct, "CREATE TABLE payment (order_id VARCHAR(100) NOT NULL, run INT)");
            Consumer consumer = Consumer.named("payments")
                    .policy(Policy.defaults().withBusyWait(Duration.ofMillis(300)))
                    .build();
            Message message = Message.of("order-1", new byte[0]);
            DataSource impatient = Db.plain(url + "&socketTimeout=2");
            JdbcStore store =
                    JdbcStore.builder(impatient).schemaMode(SchemaMode.CREATE).build();
            try (Inbox inbox = Inbox.create(store)) {
                inbox.register(consumer);
                execute(direct, "ALTER SYSTEM SET synchronous_standby_names = 'ghost'", "SELECT pg_reload_conf()");
                await().atMost(LIMIT)
                        .until(() ->
                                text(direct, "SHOW synchronous_standby_names").equals("ghost"));

                assertThat(inbox.process(consumer, message, tx -> pay(tx, "order-1")))
                        .isInstanceOf(Outcome.Busy.class);
                assertThat(text(direct, "SELECT count(*) FROM idem_marker"))
                        .as("markers that a SELECT sees")
                        .isEqualTo("0");

                execute(direct, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()");
                await().atMost(LIMIT)
                        .until(() ->
                                text(direct, "SELECT count(*) FROM payment").equals("1"));
                assertThat(inbox.process(consumer, message, tx -> pay(tx, "order-1")))
                        .isInstanceOf(Outcome.Duplicate.class);
                assertThat(text(direct, "SELECT count(*) FROM payment")).isEqualTo("1");
            }
            report("POSTGRESQL waiting for a standby", 1);
        }
    }

    private static String pay(Transaction tx, String order) throws SQLException {
        Db.pay(tx.connection(), order);
        return order;
    }

    private static void execute(DataSource source, String... texts) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : texts) {
                statement.execute(sql);
            }
        }
    }

    private static String text(DataSource source, String sql) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    private static String socketTimeout(Database database) {
        return database == Database.POSTGRESQL ? "socketTimeout=2" : "socketTimeout=2000";
    }

    private static void report(String what, int cases) {
        CASES.addAndGet(cases);
        System.out.printf("network faults, %s: %d cases%n", what, cases);
    }

    @AfterAll
    static void total() {
        System.out.printf("network faults, total: %d cases%n", CASES.get());
    }
}
