package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.jdbc.schema.Database;
import dev.idem.spi.FaultHook;
import dev.idem.test.fault.Fault;
import dev.idem.test.fault.FaultyDataSource;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Random batches on every database: repeats inside and across batches, failures of every kind at every position, crashes
 * between any two steps, faults at any call. Every effect is there once, nothing is acknowledged without its effect, and
 * every ordering key is in order.
 *
 * <p>Longer: {@code -Didem.batch.rounds=500}. The same again: {@code -Didem.batch.seed=…}, as printed by a failure.
 */
class BatchPropertyTest {
    private static final int ROUNDS = Integer.getInteger("idem.batch.rounds", 4);

    private interface Property {
        void hold(BatchWorld world, Db db, Random random, String prefix) throws Exception;
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-10 PG-13 RO-01 RO-14 random failures, repeats and ordering keys")
    void everyEffectOnce(Database database) throws Exception {
        forAll(database, ROUNDS, (world, db, random, prefix) -> {
            BatchStream stream = new BatchStream(world, random, prefix, 30, 45);
            HikariDataSource pool = db.pool(2);
            try (pool;
                    Inbox inbox = Inbox.create(existing(pool))) {
                stream.drain(random, inbox, world.consumer(policy(random)));
                assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
            }
            stream.check();
        });
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-02 PG-15 random crashes between any two steps, and random faults at any call")
    void everyEffectOnceInSpiteOfCrashes(Database database) throws Exception {
        forAll(database, ROUNDS, (world, db, random, prefix) -> {
            BatchStream stream = new BatchStream(world, random, prefix, 20, 25);
            HikariDataSource pool = db.pool(2);
            FaultyDataSource faulty = FaultyDataSource.around(pool);
            Consumer consumer = world.consumer(policy(random));
            AtomicInteger steps = new AtomicInteger();
            FaultHook crash = (step, key) -> {
                if (steps.decrementAndGet() == 0) {
                    throw new IllegalStateException("crash at " + step);
                }
            };
            try (pool;
                    Inbox inbox = Inbox.builder(existing(faulty)).steps(crash).build()) {
                inbox.register(consumer);
                for (int i = 0; i < BatchStream.MOST_DELIVERIES && !stream.isSettled(); i++) {
                    steps.set(random.nextInt(3) == 0 ? 1 + random.nextInt(40) : 0);
                    faulty.reset();
                    if (random.nextInt(3) == 0) {
                        faulty.arm(1 + random.nextInt(60), Fault.values()[random.nextInt(Fault.values().length)]);
                    }
                    List<Message> batch = stream.next(random);
                    stream.hear(batch, inbox.acceptAll(consumer, batch));
                    assertThat(pool.getHikariPoolMXBean().getActiveConnections())
                            .isZero();
                }
                assertThat(stream.isSettled()).as("settled").isTrue();
            }
            stream.check();
        });
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PG-12 PC-01 overlapping batches from three processes at once")
    void everyEffectOnceInSpiteOfRivals(Database database) throws Exception {
        forAll(database, Math.max(1, ROUNDS / 3), (world, db, random, prefix) -> {
            BatchStream stream = new BatchStream(world, random, prefix, 60, 15);
            long seed = random.nextLong();
            Together.run(3, rival -> {
                Random own = new Random(seed + rival);
                HikariDataSource pool = db.pool(1);
                try (pool;
                        Inbox inbox = Inbox.create(existing(pool))) {
                    stream.drain(own, inbox, world.consumer(policy(own)));
                }
                return null;
            });
            stream.check();
        });
    }

    private static Policy policy(Random random) {
        return Policy.defaults().withBatchLimits(1 + random.nextInt(10), 1_000).withMaxRuns(2 + random.nextInt(3));
    }

    private static JdbcStore existing(javax.sql.DataSource source) {
        return JdbcStore.builder(source).schemaMode(SchemaMode.NOTHING).build();
    }

    private static void forAll(Database database, int rounds, Property property) throws Exception {
        long seed = Long.getLong("idem.batch.seed", System.nanoTime());
        try (Db db = Db.fresh(database)) {
            db.store();
            BatchWorld world = new BatchWorld(db);
            for (int round = 0; round < rounds; round++) {
                String prefix = "r" + round + "-";
                try {
                    property.hold(world, db, new Random(seed + round), prefix);
                    assertThat(db.markers()).as("markers").isEqualTo(db.number("SELECT count(*) FROM effect"));
                } catch (AssertionError | Exception failure) {
                    throw new AssertionError(
                            "fails in round " + round + "; repeat with -Didem.batch.seed=" + (seed + round), failure);
                }
            }
        }
    }
}
