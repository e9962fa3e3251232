package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.schema.Database;
import dev.idem.jdbc.schema.WakeUp;
import dev.idem.queue.QueuePolicy;
import dev.idem.servers.PgBouncer;
import dev.idem.servers.PostgresServer;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.spi.QueueStore;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.postgresql.PGConnection;

/** Instances that tell each other what they store. */
@ExtendWith(SkipWithoutServer.class)
class WakeUpTest {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final String LISTENING =
            "FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN public$idem_'";

    @Test
    @DisplayName("a message that one instance stores is handled by another one long before that looks again")
    void handledElsewhere() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Inbox receiving = db.inbox(db.pool(4));
                Inbox working = db.inbox(db.pool(6))) {
            Semaphore handled = new Semaphore(0);
            Consumer consumer = consumer(handled);
            working.start(consumer);
            receiving.accept(consumer, Db.message("first"));
            assertThat(handled.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
            // The worker looks ever more seldom: by now it has begun a pause of at least 7.7 s, of which 4.8 s are
            // left.
            Thread.sleep(10_500);
            assertThat(receiving.accept(consumer, Db.message("second"))).isInstanceOf(Outcome.Stored.class);
            assertThat(handled.tryAcquire(4, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    @DisplayName("a connection that is lost is replaced, and a bell rings for what came meanwhile")
    void listensAgain() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                JdbcStore one = db.store(db.pool(4));
                JdbcStore two = db.store(db.pool(4))) {
            Semaphore rings = rings(two, "payments");
            for (int i = 0; i < 3; i++) {
                await().atMost(LONG).until(() -> db.number("SELECT count(*) " + LISTENING) == 1);
                assertThat(rings.tryAcquire(20, TimeUnit.SECONDS)).isTrue(); // it listens
                for (int j = 0; j < 20; j++) { // also right after the one before
                    waking(one).wakeOthers("payments");
                    assertThat(rings.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
                }
                db.number("SELECT count(pg_terminate_backend(pid)) " + LISTENING);
            }
        }
    }

    @Test
    @DisplayName("many messages are told of by few notifications, which carry nothing but the consumer's number")
    void coalesced() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                Connection connection = DriverManager.getConnection(db.url());
                Statement statement = connection.createStatement();
                Inbox inbox = db.inbox(db.pool(6))) {
            statement.execute("LISTEN public$idem_");
            Consumer consumer = consumer(new Semaphore(0));
            inbox.register(consumer);
            long start = System.nanoTime();
            Together.run(4, t -> {
                for (int i = 0; i < 50; i++) {
                    assertThat(inbox.accept(consumer, Db.message(t + "-" + i))).isInstanceOf(Outcome.Stored.class);
                }
                return null;
            });
            long intervals = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) / 25;
            PGConnection heard = connection.unwrap(PGConnection.class);
            String number = db.text("SELECT number FROM idem_consumer WHERE name = 'payments'");
            int count = 0;
            for (var some = heard.getNotifications(5_000); some.length > 0; some = heard.getNotifications(500)) {
                assertThat(some).allMatch(n -> n.getParameter().equals(number));
                count += some.length;
            }
            assertThat(count).isBetween(1, (int) Math.min(150, intervals + 2));
        }
    }

    @Test
    @DisplayName("tables with another prefix are another channel")
    void twoInboxesInOneDatabase() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                JdbcStore one = db.store(db.pool(4));
                JdbcStore two = JdbcStore.builder(db.pool(4))
                        .prefix("other_")
                        .schemaMode(SchemaMode.CREATE)
                        .build()) {
            Semaphore own = rings(one, "payments");
            Semaphore other = rings(two, "payments");
            assertThat(own.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
            assertThat(other.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
            waking(one).wakeOthers("payments");
            assertThat(own.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
            assertThat(other.tryAcquire(200, TimeUnit.MILLISECONDS)).isFalse();
        }
    }

    @Test
    @DisplayName("a closed store listens no more, and gives its connection back clean")
    void closed() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL)) {
            var pool = db.pool(1, "ApplicationName=listener");
            try (JdbcStore store = db.store(db.pool(4))) {
                JdbcStore listening = db.store(pool);
                listening.register("payments");
                pool.setMaximumPoolSize(2); // one to listen, one for the trial
                assertThat(rings(listening, "payments").tryAcquire(20, TimeUnit.SECONDS))
                        .isTrue();
                listening.close();
                assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
                try (Connection a = pool.getConnection();
                        Connection b = pool.getConnection()) {
                    waking(store).wakeOthers("payments");
                    Thread.sleep(200); // for what must not come
                    assertThat(a.unwrap(PGConnection.class).getNotifications(50))
                            .isEmpty();
                    assertThat(b.unwrap(PGConnection.class).getNotifications(50))
                            .isEmpty();
                }
            }
        }
    }

    @Test
    @DisplayName("PG-22 through PgBouncer in transaction mode the workers poll and say so, and no session listens on")
    void throughPgBouncer() throws Exception {
        try (PgBouncer bouncer = PgBouncer.start(PostgresServer.shared(), "transaction", 3);
                CapturedLog log = CapturedLog.of(JdbcStore.class);
                Db db = Db.fresh(Database.POSTGRESQL)) {
            String url = bouncer.jdbcUrl(db.text("SELECT current_database()"));
            Semaphore handled = new Semaphore(0);
            try (Inbox inbox = db.inbox(db.pool(6, Db.plain(url)))) {
                inbox.start(consumer(handled));
                await().atMost(LONG).until(() -> log.everything().stream().anyMatch(l -> l.contains("WakeUp.POLL")));
                inbox.accept(consumer(handled), Db.message("m"));
                assertThat(handled.tryAcquire(40, TimeUnit.SECONDS)).isTrue();
            }
            assertThat(log.everything())
                    .filteredOn(l -> l.contains("WakeUp.POLL"))
                    .hasSize(1);
            Together.run(3, i -> {
                try (Connection connection = DriverManager.getConnection(url);
                        Statement statement = connection.createStatement()) {
                    connection.setAutoCommit(false); // three transactions at once see all three server connections
                    ResultSet rows = statement.executeQuery(
                            "SELECT count(*), pg_sleep(0.3) FROM pg_listening_channels() c WHERE c = 'public$idem_'");
                    rows.next();
                    assertThat(rows.getInt(1)).isZero();
                    connection.rollback();
                }
                return null;
            });
        }
    }

    @Test
    @DisplayName("through PgBouncer in session mode notifications arrive")
    void throughPgBouncerInSessionMode() throws Exception {
        try (PgBouncer bouncer = PgBouncer.start(PostgresServer.shared(), "session", 10);
                Db db = Db.fresh(Database.POSTGRESQL);
                JdbcStore one = db.store(db.pool(4));
                JdbcStore two = db.store(Db.plain(bouncer.jdbcUrl(db.text("SELECT current_database()"))))) {
            Semaphore rings = rings(two, "payments");
            assertThat(rings.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
            waking(one).wakeOthers("payments");
            assertThat(rings.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    @DisplayName("who chose to poll keeps no connection and sends nothing")
    void poll() throws Exception {
        try (Db db = Db.fresh(Database.POSTGRESQL);
                JdbcStore listening = db.store(db.pool(4));
                JdbcStore polling =
                        JdbcStore.builder(db.pool(4)).wakeUp(WakeUp.POLL).build()) {
            Semaphore rings = rings(listening, "payments");
            assertThat(rings.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
            Semaphore none = rings(polling, "payments");
            waking(polling).wakeOthers("payments");
            assertThat(rings.tryAcquire(300, TimeUnit.MILLISECONDS)).isFalse();
            assertThat(none.tryAcquire()).isFalse();
            assertThat(db.number("SELECT count(*) " + LISTENING)).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("connections that cannot be unwrapped are left alone")
    void notOfTheDriver() throws Exception {
        try (CapturedLog log = CapturedLog.of(JdbcStore.class);
                Db db = Db.fresh(Database.POSTGRESQL);
                JdbcStore store = db.store(new UnitDataSource(() -> veiled(DriverManager.getConnection(db.url()))))) {
            rings(store, "payments");
            await().atMost(LONG).until(() -> log.everything().stream().anyMatch(l -> l.contains("unwrapped")));
        }
    }

    /** A connection that admits to be nobody's. */
    private static Connection veiled(Connection real) {
        return (Connection) java.lang.reflect.Proxy.newProxyInstance(
                WakeUpTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("isWrapperFor")) {
                        return false;
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (java.lang.reflect.InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }

    private static Consumer consumer(Semaphore handled) {
        return Consumer.named("payments")
                .queued(QueuePolicy.inTransaction().withWorkers(1).withPoll(Duration.ofSeconds(30)))
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    handled.release();
                    return null;
                })
                .build();
    }

    private static Semaphore rings(JdbcStore store, String consumer) {
        Semaphore rings = new Semaphore(0);
        waking(store).onWake(consumer, rings::release);
        return rings;
    }

    private static QueueStore.Waking waking(JdbcStore store) {
        return (QueueStore.Waking) store.queue();
    }
}
