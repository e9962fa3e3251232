package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.broker.Publisher;
import dev.idem.broker.Relay;
import dev.idem.jdbc.schema.Database;
import dev.idem.jdbc.schema.WakeUp;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.servers.LongLane;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A relay that dies at any of its statements, before it or after it, or between it and the broker; another one takes over. */
class RelayCrashTest {
    private static final Outbox SHIPMENTS = Outbox.named("shipments");
    private static final List<String> PAYLOADS = List.of("a-0", "b-0", "a-1", "c-0", "a-2");
    private static final QueuePolicy TAKEN =
            QueuePolicy.inTransaction().withWorkers(1).withPoll(Duration.ofMillis(20));
    private static final QueuePolicy LEASED =
            QueuePolicy.leased(Duration.ofMinutes(1)).withWorkers(1).withPoll(Duration.ofMillis(20));

    private static final Consumer ORDERS = Consumer.named("orders")
            .publishesTo(SHIPMENTS)
            .otherwise((order, tx) -> {
                for (String payload : PAYLOADS) {
                    tx.publish(
                            "shipments",
                            Message.builder()
                                    .orderingKey(payload.substring(0, 1))
                                    .payload(payload.getBytes(StandardCharsets.UTF_8))
                                    .build());
                }
                return null;
            })
            .build();

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-01 HX-14 wherever a relay dies that works in one transaction, all is published, in order by key")
    void inTransaction(Database database) {
        assertThat(sweep(database, TAKEN)).isGreaterThanOrEqualTo(4 / stride(database));
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RO-01 HX-14 wherever a relay dies that takes leases, all is published, in order by key")
    void leased(Database database) {
        assertThat(sweep(database, LEASED)).isGreaterThanOrEqualTo(10 / stride(database));
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("HX-14 a relay that dies after any message the broker took, and before its confirmation")
    void atTheBroker(Database database) {
        try (RelayBench bench = new RelayBench(database)) {
            for (QueuePolicy policy : List.of(TAKEN, LEASED)) {
                for (int taken = 0; taken <= PAYLOADS.size(); taken++) {
                    CountingBroker broker = bench.published();
                    MortalDataSource process = new MortalDataSource(bench.db.plain());
                    bench.runUntilDead(process, policy, broker.dyingAfter(process, taken), () -> {});
                    assertThat(broker.deaths()).isEqualTo(1);
                    bench.recover(policy, broker);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = Database.class, names = "POSTGRESQL")
    @DisplayName("PG-15 wherever a relay loses its connection, it goes on by itself, in order by key")
    void lostConnection(Database database) {
        try (RelayBench bench = new RelayBench(database)) {
            boolean lost = true;
            int points = 0;
            int stride = LongLane.stride(2);
            for (int n = LongLane.first(stride); lost; n += stride) {
                lost = false;
                for (boolean after : new boolean[] {false, true}) {
                    CountingBroker broker = bench.published();
                    MortalDataSource source = new MortalDataSource(bench.db.plain());
                    int deadly = n;
                    try (Inbox living = bench.start(
                            source.dataSource(),
                            TAKEN,
                            broker.publisher(),
                            () -> source.loseConnectionAt(deadly, after))) {
                        StepBench.until(() -> bench.rows() == 0);
                        boolean early = source.hasLostConnection();
                        lost |= early;
                        points += early ? 1 : 0;
                    }
                    bench.check(broker);
                }
            }
            assertThat(points).isGreaterThanOrEqualTo(5 / stride);
        }
    }

    /** Outside the long lane every statement on PostgreSQL, and each second one on the others. */
    private static int stride(Database database) {
        return database == Database.POSTGRESQL ? 1 : LongLane.stride(2);
    }

    /** Answers at how many points it died. */
    private static int sweep(Database database, QueuePolicy policy) {
        try (RelayBench bench = new RelayBench(database)) {
            boolean full = database == Database.POSTGRESQL && !policy.isLeased();
            int stride = stride(database);
            int points = 0;
            boolean died = true;
            for (int n = LongLane.first(stride); died; n += stride) {
                died = false;
                // After one statement is before the next, but for the broker in between; so one of both does elsewhere.
                for (boolean after : full ? List.of(false, true) : List.of(true)) {
                    CountingBroker broker = bench.published();
                    MortalDataSource process = new MortalDataSource(bench.db.plain());
                    int deadly = n;
                    bench.runUntilDead(process, policy, broker.from(process), () -> process.dieAt(deadly, after));
                    if (bench.rows() > 0) {
                        died = true;
                        points++;
                        bench.recover(policy, broker);
                    } else {
                        bench.check(broker);
                    }
                }
            }
            return points;
        }
    }

    /** A database with an outbox, which processes relay that live longer or shorter. */
    private static final class RelayBench implements AutoCloseable {
        final Db db;
        private final Inbox door;
        private final DataSource pool;
        private int orders;

        RelayBench(Database database) {
            db = Db.fresh(database);
            pool = db.pool(8);
            door = Inbox.create(store(pool));
            door.register(Consumer.of(SHIPMENTS.consumer()));
        }

        private static JdbcStore store(DataSource source) {
            return JdbcStore.builder(source)
                    .schemaMode(SchemaMode.CREATE)
                    .wakeUp(WakeUp.POLL)
                    .build();
        }

        /** The broker that the messages of one order wait for. */
        CountingBroker published() {
            door.accept(ORDERS, Db.message("m" + orders++));
            assertThat(rows()).isEqualTo(PAYLOADS.size());
            return new CountingBroker();
        }

        /** @param ready what happens when it is connected and has looked at its tables, and before it begins */
        Inbox start(DataSource source, QueuePolicy policy, Publisher publisher, Runnable ready) {
            Consumer relay = Relay.of(SHIPMENTS, publisher, policy);
            Inbox inbox =
                    Inbox.builder(store(source)).drain(Duration.ofSeconds(5)).build();
            inbox.register(relay);
            ready.run();
            inbox.start(relay);
            return inbox;
        }

        void runUntilDead(MortalDataSource process, QueuePolicy policy, Publisher publisher, Runnable ready) {
            try (Inbox dying = start(process.dataSource(), policy, publisher, ready)) {
                StepBench.until(() -> process.isDead() || rows() == 0);
                process.die();
            }
        }

        void recover(QueuePolicy policy, CountingBroker broker) {
            db.execute("UPDATE idem_queue SET due_at = 1 WHERE status = 1"); // leases of the dead run out
            try (Inbox recovering = start(pool, policy, broker.publisher(), () -> {})) {
                StepBench.until(() -> rows() == 0);
            }
            check(broker);
        }

        /** Each at least once; twice at most, as it died once; for a receiver that knows ids once, and in order. */
        void check(CountingBroker broker) {
            assertThat(broker.violations()).isEmpty();
            assertThat(broker.received()).containsExactlyInAnyOrderElementsOf(PAYLOADS);
            assertThat(broker.mostPublications()).isLessThanOrEqualTo(2);
            for (String key : List.of("a", "b", "c")) {
                assertThat(broker.received().stream().filter(p -> p.startsWith(key)))
                        .isSorted();
            }
        }

        long rows() {
            return db.number("SELECT count(*) FROM idem_queue");
        }

        @Override
        public void close() {
            door.close();
            db.close();
        }
    }
}
