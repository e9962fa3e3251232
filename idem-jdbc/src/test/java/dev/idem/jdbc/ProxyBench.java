package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Settlement;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.schema.Database;
import dev.idem.spi.FaultPoint;
import dev.idem.spi.MarkerKey;
import dev.idem.test.fault.TcpFaultProxy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/**
 * An inbox that reaches its database through a proxy, and something that happens to the network when the first commit of
 * a delivery is about to be sent. Redelivery and counting go directly.
 */
final class ProxyBench implements AutoCloseable {
    private static final int MOST_DELIVERIES = 40;
    private static final int BATCH = 3;

    private final Db db;
    private final TcpFaultProxy proxy;
    private final String proxied;
    private final Connection side;
    private final ReusingPool pool;
    private final Inbox inbox;
    private final Inbox direct;
    private Consumer consumer = consumer(Duration.ofSeconds(5));
    private Runnable atCommit = () -> {};
    private boolean around;
    private boolean committed;
    private int messages;
    private int runs;

    ProxyBench(Database database, String... options) throws SQLException {
        this(database, false, options);
    }

    /** With a pool that hands out the same connection again. */
    static ProxyBench reusing(Database database) throws SQLException {
        return new ProxyBench(database, true);
    }

    private ProxyBench(Database database, boolean reusing, String... options) throws SQLException {
        db = Db.fresh(database);
        int port = Integer.parseInt(db.url().replaceFirst(".*:(\\d+)/.*", "$1"));
        proxy = TcpFaultProxy.to(port);
        proxied =
                (options.length == 0 ? db.url() : db.url(options)).replace(":" + port + "/", ":" + proxy.port() + "/");
        side = DriverManager.getConnection(db.url());
        db.store().register(consumer.name());
        DataSource source = new UnitDataSource(() -> DriverManager.getConnection(around ? db.url() : proxied));
        pool = new ReusingPool(2, source);
        inbox = Inbox.builder(store(reusing ? pool.dataSource() : source))
                .steps(this::at)
                .build();
        direct = Inbox.create(store(db.pool(1)));
        inbox.register(consumer);
        direct.register(consumer);
    }

    private static JdbcStore store(DataSource source) {
        return JdbcStore.builder(source).schemaMode(SchemaMode.NOTHING).build();
    }

    private static Consumer consumer(Duration busyWait) {
        return Consumer.named("payments")
                .policy(Policy.defaults().withBusyWait(busyWait))
                .build();
    }

    ProxyBench busyWait(Duration wait) {
        consumer = consumer(wait);
        return this;
    }

    Db db() {
        return db;
    }

    String proxiedUrl() {
        return proxied;
    }

    TcpFaultProxy proxy() {
        return proxy;
    }

    /** The handler's runs for the current message. */
    int runs() {
        return runs;
    }

    /** From now on new connections avoid the proxy. */
    void goAround() {
        around = true;
    }

    /** Delivers a new message; the event happens when its first commit is about to be sent. */
    Outcome<String> deliver(Runnable event) throws SQLException {
        messages++;
        runs = 0;
        around = false;
        committed = false;
        atCommit = event;
        return inbox.process(consumer, message(), tx -> {
            runs++;
            Db.pay(tx.connection(), id());
            return id();
        });
    }

    /** The same for a batch; true when all of it was acknowledged. */
    boolean deliverBatch() {
        messages++;
        around = false;
        return isAcknowledged(inbox, batch());
    }

    /** Whatever the network did: acknowledged in the end, and one effect and one marker for each message of the batch. */
    void redeliverBatch() throws SQLException {
        boolean settled = false;
        for (int i = 0; i < MOST_DELIVERIES && !settled; i++) {
            settled = isAcknowledged(direct, batch());
        }
        assertThat(settled).isTrue();
        for (String table : List.of("payment WHERE order_id", "idem_marker WHERE readable")) {
            assertThat(number("SELECT count(*) FROM " + table + " LIKE '" + id() + "-%'"))
                    .as(table)
                    .isEqualTo(BATCH);
        }
        assertThat(pool.trespasses()).isEmpty();
    }

    private static boolean isAcknowledged(Inbox through, List<Message> batch) {
        Consumer paying = Consumer.named("payments")
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    return null;
                })
                .build();
        return through.acceptAll(paying, batch).stream().allMatch(o -> o.settlement() == Settlement.ACK);
    }

    private List<Message> batch() {
        return IntStream.range(0, BATCH)
                .mapToObj(i -> Message.of(id() + "-" + i, "pay".getBytes(StandardCharsets.UTF_8)))
                .toList();
    }

    /** True if the commit of the last delivery was answered, so that what was armed for it came too late. */
    boolean committedUnharmed() {
        return committed;
    }

    private void at(FaultPoint step, MarkerKey key) {
        if (step == FaultPoint.BEFORE_COMMIT) {
            Runnable event = atCommit;
            atCommit = () -> {};
            event.run();
        } else if (step == FaultPoint.AFTER_COMMIT && runs == 1) {
            committed = true;
            proxy.heal();
        }
    }

    Outcome<String> redeliver() throws SQLException {
        Outcome<String> outcome = null;
        for (int i = 0; i < MOST_DELIVERIES; i++) {
            outcome = direct.process(consumer, message(), tx -> {
                runs++;
                Db.pay(tx.connection(), id());
                return id();
            });
            if (outcome.settlement() == Settlement.ACK) {
                return outcome;
            }
        }
        throw new AssertionError(id() + " is still " + outcome);
    }

    /** Whatever the network did: one effect, one marker, and the next delivery is a duplicate. */
    void checkOnce() throws SQLException {
        assertThat(effects()).as("effects").isEqualTo(1);
        assertThat(redeliver()).isInstanceOf(Outcome.Duplicate.class);
        assertThat(effects()).as("effects").isEqualTo(1);
        assertThat(number("SELECT count(*) FROM idem_marker WHERE readable = '" + id() + "'"))
                .as("markers")
                .isEqualTo(1);
    }

    long effects() throws SQLException {
        return number("SELECT count(*) FROM payment WHERE order_id = '" + id() + "'");
    }

    /** How many transactions are open in this database besides that of the question. */
    long openTransactions() throws SQLException {
        return number(
                db.kind() == Database.POSTGRESQL
                        ? "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                + " AND backend_xid IS NOT NULL"
                        : "SELECT count(*) FROM information_schema.innodb_trx t JOIN information_schema.processlist p"
                                + " ON p.id = t.trx_mysql_thread_id WHERE p.db = DATABASE() AND p.id <> CONNECTION_ID()");
    }

    private long number(String sql) throws SQLException {
        try (Statement statement = side.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    private String id() {
        return "order-" + messages;
    }

    private Message message() {
        return Message.of(id(), "pay".getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() throws SQLException {
        inbox.close();
        direct.close();
        pool.close();
        side.close();
        proxy.close();
        db.close();
    }
}
