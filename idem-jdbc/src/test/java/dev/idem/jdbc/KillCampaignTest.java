package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Consumers, connections and the server are killed under load, again and again. A checker that reads only the business
 * tables then finds every acknowledged message applied exactly once.
 *
 * <p>Longer: {@code -Didem.kill.rounds=500 -Didem.kill.restarts=50 -Didem.kill.batch=400}. The same again: {@code
 * -Didem.kill.seed=…}, as printed; it decides the stream and when to kill, the machine decides the rest.
 */
class KillCampaignTest {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final int CONSUMERS = 2;
    private static final int THREADS = 4;
    private static final int ROUNDS = Integer.getInteger("idem.kill.rounds", 13);
    private static final int RESTARTS = Integer.getInteger("idem.kill.restarts", 5);
    private static final int BATCH = Integer.getInteger("idem.kill.batch", 100);
    private static final long BACKEND_KILL_MILLIS = 50;

    @TempDir
    Path directory;

    private final long seed = Long.getLong("idem.kill.seed", new Random().nextLong());
    private final Random random = new Random(seed);
    private final AtomicInteger backendKills = new AtomicInteger();
    private int consumerKills;
    private int serverKills;
    private int atOnce;
    private KillBroker broker;
    private String url;

    @Test
    void nothingIsLostOrDoubled() throws Exception {
        campaign(1, ROUNDS, RESTARTS);
    }

    @Test
    @DisplayName("PG-10 nothing of a batch is lost or doubled")
    void nothingOfABatchIsLostOrDoubled() throws Exception {
        campaign(25, Math.max(1, ROUNDS / 6), Math.max(1, RESTARTS / 5));
    }

    /** @param atOnce how many deliveries a consumer takes into one transaction */
    private void campaign(int atOnce, int rounds, int restarts) throws Exception {
        this.atOnce = atOnce;
        long start = System.nanoTime();
        broker = new KillBroker(random, directory);
        System.out.printf("kill campaign: seed %d%n", seed);
        try (PostgresServer server = PostgresServer.start()) {
            url = server.jdbcUrl(server.createDatabase());
            prepare();
            killConsumersAndBackends(rounds);
            killServer(server, restarts);
            drain();
            check();
            assertThat(number("SELECT sum(payments) FROM account")).isEqualTo(broker.messages());
        }
        System.out.printf(
                "kill campaign: seed %d, %d at once, %d messages in %d deliveries, killed: %d consumers, %d backends, %d servers;"
                        + " lost 0, doubled 0, %d s%n",
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
        JdbcStore.builder(Db.plain(url)).schemaMode(SchemaMode.ALWAYS).build();
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE payment (order_id varchar(100) NOT NULL)");
            statement.execute("CREATE TABLE account (id int PRIMARY KEY, payments int NOT NULL)");
            statement.execute(
                    "INSERT INTO account SELECT i, 0 FROM generate_series(0, " + (KillConsumer.ACCOUNTS - 1) + ") i");
        }
    }

    /** Two consumers compete for the same deliveries; each is killed after a random number of acknowledgements. */
    private void killConsumersAndBackends(int rounds) throws Exception {
        ScheduledExecutorService killer = Executors.newSingleThreadScheduledExecutor();
        try {
            killer.scheduleWithFixedDelay(
                    this::killBackend, BACKEND_KILL_MILLIS, BACKEND_KILL_MILLIS, TimeUnit.MILLISECONDS);
            for (int round = 0; round < rounds; round++) {
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

    private void killBackend() {
        try {
            backendKills.addAndGet((int) number("""
                    SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
                    WHERE application_name = 'consumer' AND state <> 'idle'
                    ORDER BY random() LIMIT 1) victim
                    """));
        } catch (SQLException notNow) {
            return; // the next one will
        }
    }

    /** The consumer lives on while the server dies under it and comes back. */
    private void killServer(PostgresServer server, int restarts) throws Exception {
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
                url + "&ApplicationName=consumer", // so that the checker is never the victim
                broker.open().toString(),
                Long.toString(random.nextLong()),
                Integer.toString(THREADS),
                Integer.toString(atOnce));
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
