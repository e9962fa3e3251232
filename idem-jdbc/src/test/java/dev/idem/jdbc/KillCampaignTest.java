package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.jdbc.schema.Database;
import dev.idem.servers.DatabaseServer;
import dev.idem.servers.LongLane;
import dev.idem.servers.MariaDbServer;
import dev.idem.servers.PostgresServer;
import dev.idem.test.fault.ForkedJvm;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Consumers, connections and the server are killed under load, again and again. A checker that reads only the business
 * tables then finds every acknowledged message applied exactly once.
 *
 * <p>The long lane asks for {@code -Didem.kill.rounds=500 -Didem.kill.restarts=50 -Didem.kill.batch=400}. The same again:
 * {@code -Didem.kill.seed=…}, as printed; it decides the stream and when to kill, the machine decides the rest.
 */
class KillCampaignTest {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final int CONSUMERS = 2;
    private static final int THREADS = 4;
    private static final int ROUNDS = setting("rounds", 6, 500);
    private static final int RESTARTS = setting("restarts", 2, 50);
    private static final int FEW_ROUNDS = Math.max(1, ROUNDS / 6);
    private static final int FEW_RESTARTS = Math.max(1, RESTARTS / 5);
    private static final int BATCH = setting("batch", 100, 400);
    private static final long BACKEND_KILL_MILLIS = 50;
    private static final int MOST_QUIET_TURNS = 60;
    private static final String CONSUMER = "consumer";

    @TempDir
    Path directory;

    private final long seed = Long.getLong("idem.kill.seed", new Random().nextLong());
    private final Random random = new Random(seed);
    private final AtomicInteger backendKills = new AtomicInteger();
    private int quietTurns;
    private int consumerKills;
    private int serverKills;
    private int atOnce;
    private Database database;
    private TestPool pool;
    private KillBroker broker;
    private String url;

    private static int setting(String name, int usual, int inLongLane) {
        return Integer.parseInt(
                LongLane.setting("idem.kill." + name, Integer.toString(usual), Integer.toString(inLongLane)));
    }

    @Test
    void nothingIsLostOrDoubled() throws Exception {
        campaign(Database.POSTGRESQL, TestPool.HIKARI, 1, ROUNDS, RESTARTS);
    }

    @ParameterizedTest
    @MethodSource("elsewhere")
    @DisplayName("LV-15 nothing is lost or doubled on another pool, or another database")
    void nothingIsLostOrDoubledElsewhere(Database database, TestPool pool) throws Exception {
        campaign(database, pool, 1, FEW_ROUNDS, FEW_RESTARTS);
    }

    /** The first two in each build, all in the long lane. */
    static Stream<Arguments> elsewhere() {
        return Stream.of(
                        Arguments.of(Database.POSTGRESQL, TestPool.REUSING),
                        Arguments.of(Database.MARIADB, TestPool.HIKARI),
                        Arguments.of(Database.MARIADB, TestPool.REUSING))
                .limit(LongLane.isOn() ? 3 : 2);
    }

    @ParameterizedTest
    @MethodSource("batches")
    @DisplayName("PG-10 LV-15 nothing of a batch is lost or doubled")
    void nothingOfABatchIsLostOrDoubled(Database database, TestPool pool) throws Exception {
        campaign(database, pool, 25, FEW_ROUNDS, FEW_RESTARTS);
    }

    /** The first three in each build, all in the long lane. */
    static Stream<Arguments> batches() {
        return Stream.of(
                        Arguments.of(Database.POSTGRESQL, TestPool.HIKARI),
                        Arguments.of(Database.MARIADB, TestPool.REUSING),
                        Arguments.of(Database.MARIADB, TestPool.HIKARI),
                        Arguments.of(Database.POSTGRESQL, TestPool.REUSING))
                .limit(LongLane.isOn() ? 4 : 3);
    }

    /** @param atOnce how many deliveries a consumer takes into one transaction */
    private void campaign(Database database, TestPool pool, int atOnce, int rounds, int restarts) throws Exception {
        this.database = database;
        this.pool = pool;
        this.atOnce = atOnce;
        long start = System.nanoTime();
        broker = new KillBroker(random, directory);
        System.out.printf("kill campaign: seed %d%n", seed);
        try (DatabaseServer server = database == Database.POSTGRESQL ? PostgresServer.start() : MariaDbServer.start()) {
            url = server.jdbcUrl(server.createDatabase());
            prepare();
            killConsumersAndBackends(rounds);
            killServer(server, restarts);
            drain();
            check();
            assertThat(number("SELECT sum(payments) FROM account")).isEqualTo(broker.messages());
        }
        System.out.printf(
                "kill campaign: %s, %s, seed %d, %d at once, %d messages in %d deliveries, killed: %d consumers, %d backends, %d servers;"
                        + " lost 0, doubled 0, %d s%n",
                database,
                pool,
                seed,
                atOnce,
                broker.messages(),
                broker.deliveries(),
                consumerKills,
                backendKills.get(),
                serverKills,
                TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start));
        assertThat(consumerKills).isGreaterThanOrEqualTo(Math.min(25, rounds * CONSUMERS));
        assertThat(serverKills).isEqualTo(restarts);
        assertThat(backendKills.get()).isPositive();
    }

    @Test
    void theCheckerSeesWhatIsLostAndDoubled() {
        assertThat(KillVerdict.of(List.of("a", "b", "c"), List.of("b", "c", "c", "not acknowledged")))
                .isEqualTo(new KillVerdict(Set.of("a"), Set.of("c")));
    }

    private void prepare() throws SQLException {
        JdbcStore.builder(Db.plain(url)).schemaMode(SchemaMode.CREATE).build();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE payment (order_id varchar(100) NOT NULL)");
            statement.execute("CREATE TABLE account (id int PRIMARY KEY, payments int NOT NULL)");
            for (int i = 0; i < KillConsumer.ACCOUNTS; i++) {
                statement.execute("INSERT INTO account VALUES (" + i + ", 0)");
            }
            if (database == Database.MARIADB) {
                statement.execute("CREATE USER " + CONSUMER + "@'%'");
                statement.execute("GRANT ALL ON *.* TO " + CONSUMER + "@'%'");
            }
        }
    }

    /** Marked, so that the checker is never the victim. */
    private String consumersUrl() {
        return database == Database.POSTGRESQL
                ? url + "&ApplicationName=" + CONSUMER
                : url.replaceFirst("user=\\w+", "user=" + CONSUMER);
    }

    /** Two consumers compete for the same deliveries; each is killed after a random number of acknowledgements. */
    private void killConsumersAndBackends(int rounds) throws Exception {
        ScheduledExecutorService killer = Executors.newSingleThreadScheduledExecutor();
        try {
            killer.scheduleWithFixedDelay(
                    this::killBackend, BACKEND_KILL_MILLIS, BACKEND_KILL_MILLIS, TimeUnit.MILLISECONDS);
            // A few more where no backend was met in the middle of anything.
            for (int round = 0; round < rounds || (backendKills.get() == 0 && round < rounds + 20); round++) {
                broker.publish(BATCH);
                List<ForkedJvm> consumers = new ArrayList<>();
                for (int i = 0; i < CONSUMERS; i++) {
                    consumers.add(consumer());
                }
                for (ForkedJvm consumer : consumers) {
                    waitForAcknowledgements(consumer, 1 + random.nextInt(BATCH / 2));
                    consumer.killHard();
                    consumerKills++;
                    broker.hear(consumer);
                    consumer.close();
                }
                check();
            }
        } finally {
            killer.shutdownNow();
            killer.awaitTermination(LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** Ever seldomer, or a consumer on a busy machine would never get a connection that lives long enough. */
    private void killBackend() {
        if (--quietTurns > 0) {
            return;
        }
        try {
            int killed = database == Database.POSTGRESQL ? killOnPostgres() : killOnMariaDb();
            backendKills.addAndGet(killed);
            quietTurns = killed == 0 ? 0 : Math.min(backendKills.get(), MOST_QUIET_TURNS);
        } catch (SQLException | IllegalStateException notNow) {
            return; // the next one will
        }
    }

    private int killOnPostgres() throws SQLException {
        return (int) number("""
                SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
                WHERE application_name = 'consumer' AND state <> 'idle'
                ORDER BY random() LIMIT 1) victim
                """);
    }

    /**
     * Preferably one that is doing something; transactions here are too short to be met often. Not each time, or a consumer
     * on a busy machine would never come to an end.
     */
    private int killOnMariaDb() throws SQLException {
        if (random.nextInt(8) > 0) {
            return 0;
        }
        long victim = number("""
                SELECT coalesce((SELECT id FROM information_schema.processlist
                WHERE user = 'consumer' ORDER BY command = 'Sleep', rand() LIMIT 1), 0)
                """);
        if (victim == 0) {
            return 0;
        }
        Db.admin(url, "KILL CONNECTION " + victim);
        return 1;
    }

    /** The consumer lives on while the server dies under it and comes back. */
    private void killServer(DatabaseServer server, int restarts) throws Exception {
        for (int i = 0; i < restarts; i++) {
            broker.publish(BATCH);
            try (ForkedJvm consumer = consumer()) {
                waitForAcknowledgements(consumer, 1 + random.nextInt(BATCH / 2));
                server.killHard();
                serverKills++;
                server.restart();
                consumer.waitForLine(KillConsumer.DRAINED::equals, LIMIT);
                broker.hear(consumer);
            }
            check();
        }
    }

    private void drain() throws Exception {
        try (ForkedJvm consumer = consumer()) {
            consumer.waitForLine(KillConsumer.DRAINED::equals, LIMIT);
            broker.hear(consumer);
        }
        assertThat(broker.unacknowledged()).isZero();
        assertThat(broker.acknowledgedMessages()).hasSize(broker.messages());
    }

    private ForkedJvm consumer() throws Exception {
        return ForkedJvm.start(
                List.of("-Xmx96m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
                KillConsumer.class,
                consumersUrl(),
                broker.open().toString(),
                Long.toString(random.nextLong()),
                Integer.toString(THREADS),
                Integer.toString(atOnce),
                pool.name());
    }

    /** Returns at that acknowledgement, or when there are no more. */
    private static void waitForAcknowledgements(ForkedJvm consumer, int wanted) throws InterruptedException {
        AtomicInteger seen = new AtomicInteger();
        consumer.waitForLine(
                line -> line.equals(KillConsumer.DRAINED)
                        || (KillBroker.isAcknowledgement(line) && seen.incrementAndGet() == wanted),
                LIMIT);
    }

    private void check() throws SQLException {
        List<String> effects = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT order_id FROM payment")) {
            while (rows.next()) {
                effects.add(rows.getString(1));
            }
        }
        assertThat(KillVerdict.of(broker.acknowledgedMessages(), effects))
                .as("seed %d", seed)
                .matches(KillVerdict::isFlawless, "nothing lost, nothing doubled");
    }

    private long number(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
