package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Leases of running workers; what a store promises of them is in its contract. */
class LeaseTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LS-02 leases are renewed although handlers have exhausted the pool")
    void renewedWithoutThePool(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            var pool = db.pool(4);
            AtomicInteger runs = new AtomicInteger();
            Consumer consumer = Consumer.named("payments")
                    .queued(QueuePolicy.leased(Duration.ofMillis(400)).withWorkers(1))
                    .otherwise((message, tx) -> {
                        runs.incrementAndGet();
                        List<Connection> all = new ArrayList<>();
                        try {
                            while (pool.getHikariPoolMXBean().getActiveConnections() < 4) {
                                all.add(pool.getConnection());
                            }
                            Thread.sleep(1_200); // three leases long
                        } finally {
                            for (Connection connection : all) {
                                connection.close();
                            }
                        }
                        Db.pay(tx.connection(), message.id().orElseThrow());
                        return null;
                    })
                    .build();
            try (Inbox inbox = db.inbox(pool);
                    Inbox other = db.inbox(db.pool(4))) {
                inbox.accept(consumer, Db.message("m1"));
                inbox.start(consumer);
                await().atMost(Duration.ofSeconds(10)).until(() -> runs.get() == 1);
                other.start(consumer);
                await().atMost(Duration.ofSeconds(20)).until(() -> db.payments() == 1);
                assertThat(runs).hasValue(1);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LS-02 a message that somebody has locked keeps no other lease from being renewed")
    void renewedBesideALockedOne(Database database) throws Exception {
        try (InboxBench bench = new InboxBench(database);
                Connection other = bench.db.plain().getConnection();
                Statement statement = other.createStatement()) {
            bench.store(QueuePolicy.leased(Duration.ofSeconds(20)), "locked", "free");
            QueueStore queue = ((JdbcStore) bench.inbox.store()).queue();
            QueueStore.Taking taking = new QueueStore.Taking("payments", 7, "w", 10, false, Duration.ZERO, false);
            List<QueuedMessage> leased = queue.lease(taking, Duration.ofSeconds(20));
            assertThat(leased).hasSize(2);
            other.setAutoCommit(false);
            statement.execute(
                    "SELECT id FROM idem_queue WHERE id = " + leased.get(0).id() + " FOR UPDATE");
            assertThat(queue.renew(taking, leased, Duration.ofHours(1))).isEqualTo(1);
            other.rollback();
            assertThat(bench.db.text("SELECT readable FROM idem_queue WHERE due_at > "
                            + QueueSql.of(database).now() + " + 1800000000"))
                    .isEqualTo("free");
            assertThat(queue.renew(taking, leased, Duration.ofHours(1))).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LS-03 OP-01 while an inbox closes, a running handler keeps its lease, ends, and is counted once")
    void closingWaitsForTheHandler(Database database) throws Exception {
        try (Db db = Db.fresh(database)) {
            AtomicInteger runs = new AtomicInteger();
            CountDownLatch started = new CountDownLatch(1);
            Consumer consumer = Consumer.named("payments")
                    .queued(QueuePolicy.leased(Duration.ofMillis(300))
                            .withBatch(1)
                            .withWorkers(1))
                    .otherwise((message, tx) -> {
                        runs.incrementAndGet();
                        started.countDown();
                        Thread.sleep(900);
                        Db.pay(tx.connection(), message.id().orElseThrow());
                        return null;
                    })
                    .build();
            Inbox closing = db.inbox(db.pool(4));
            closing.acceptAll(consumer, List.of(Db.message("m1"), Db.message("m2")));
            closing.start(consumer);
            Together.await(started);
            closing.close();
            assertThat(db.payments()).isEqualTo(1);
            assertThat(db.number("SELECT count(*) FROM idem_queue WHERE status = 0 AND started = 0"))
                    .isEqualTo(1);
            assertThat(db.number("SELECT count(*) FROM idem_worker")).isZero();
            try (Inbox next = db.inbox(db.pool(4))) {
                next.start(consumer);
                await().atMost(Duration.ofSeconds(20)).until(() -> db.payments() == 2);
            }
            assertThat(runs).hasValue(2);
        }
    }
}
