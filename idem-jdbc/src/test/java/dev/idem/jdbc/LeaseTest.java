package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.QueuePolicy;
import dev.idem.spi.QueueBatch;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueMove;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueueStore.Taking;
import dev.idem.spi.QueuedMessage;
import dev.idem.spi.TransientStoreException;
import dev.idem.spi.Unit;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Leases: whoever has lost one can neither commit nor decide anything. */
class LeaseTest {
    private static final Duration SHORT = Duration.ofMillis(200);
    private static final Duration LONG = Duration.ofMinutes(1);
    private static final Taking FIRST = new Taking("payments", 1, "first", 10, false, Duration.ZERO, false);
    private static final Taking SECOND = new Taking("payments", 2, "second", 10, false, Duration.ZERO, false);

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LS-01 LS-12 a worker that wakes up after its lease cannot commit, and its message was taken over")
    void aLateWorkerCannotCommit(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                JdbcStore store = stored(db, "m1")) {
            QueueStore queue = store.queue();
            List<QueuedMessage> first = queue.lease(FIRST, SHORT);
            assertThat(first).hasSize(1);
            try (QueueBatch late = queue.open(FIRST, first, true)) {
                Unit unit = late.begin(List.of(first.get(0).key()), null);
                Db.pay(unit.connection(), "m1");
                unit.revoke();
                unit.commit(null);

                List<QueuedMessage> second = takenOver(queue);
                try (QueueBatch batch = queue.open(SECOND, second, true)) {
                    pay(batch, second.get(0));
                    batch.commit();
                }
                assertThatThrownBy(late::commit).isInstanceOf(TransientStoreException.class);
            }
            try (QueueBatch again = queue.open(FIRST, first, true)) {
                assertThat(again.refused()).containsKey(first.get(0).key());
            }
            assertThat(db.payments()).isEqualTo(1);
            assertThat(db.number("SELECT count(*) FROM idem_queue")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LS-04 LS-05 whatever a late worker decides, in whatever order, the newer verdict stands")
    void aLateVerdictChangesNothing(Database database) throws Exception {
        for (QueueMove move : List.of(QueueMove.FAIL, QueueMove.PARK, QueueMove.GIVE_BACK, QueueMove.COMPLETE)) {
            try (Db db = Db.fresh(database);
                    JdbcStore store = stored(db, "m1")) {
                QueueStore queue = store.queue();
                QueuedMessage late = queue.lease(FIRST, SHORT).get(0);
                QueuedMessage second = takenOver(queue).get(0);
                assertThat(second.started()).isEqualTo(2);
                assertThat(second.isSuspect()).isTrue();
                assertThat(queue.change(FIRST, List.of(change(late, move)))).isZero();
                assertThat(queue.renew(FIRST, List.of(late), LONG)).isZero();
                assertThat(queue.change(SECOND, List.of(change(second, QueueMove.PARK))))
                        .isEqualTo(1);
                assertThat(queue.change(FIRST, List.of(change(late, move)))).isZero();
                assertThat(db.number("SELECT status FROM idem_queue")).isEqualTo(4);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LS-06 LS-10 a lease that is renewed, however often, is nobody else's; nor is a message just taken")
    void aRenewedLeaseIsSafe(Database database) throws Exception {
        try (Db db = Db.fresh(database);
                JdbcStore store = stored(db, "m1", "m2")) {
            QueueStore queue = store.queue();
            List<QueuedMessage> leased = queue.lease(FIRST.limitedTo(1), SHORT);
            try (QueueBatch taken = queue.take(SECOND).orElseThrow()) {
                assertThat(taken.messages())
                        .extracting(QueuedMessage::id)
                        .doesNotContain(leased.get(0).id());
                assertThat(taken.messages()).hasSize(1);
                long until = System.nanoTime() + SHORT.multipliedBy(3).toNanos();
                while (System.nanoTime() < until) {
                    assertThat(queue.renew(FIRST, leased, SHORT)).isEqualTo(1);
                    assertThat(queue.renew(FIRST, leased, SHORT)).isEqualTo(1);
                    assertThat(queue.lease(SECOND, SHORT)).isEmpty();
                }
            }
        }
    }

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

    private static JdbcStore stored(Db db, String... ids) {
        JdbcStore store = db.store(db.pool(6));
        Inbox inbox = Inbox.create(store);
        Consumer consumer = Consumer.named("payments")
                .queued(QueuePolicy.leased(LONG))
                .otherwise((message, tx) -> null)
                .build();
        List<Message> messages = new ArrayList<>();
        for (String id : ids) {
            messages.add(Db.message(id));
        }
        inbox.acceptAll(consumer, messages);
        return store;
    }

    private static List<QueuedMessage> takenOver(QueueStore queue) {
        List<QueuedMessage> second = new ArrayList<>();
        await().atMost(Duration.ofSeconds(10)).until(() -> {
            second.addAll(queue.lease(SECOND, LONG));
            return !second.isEmpty();
        });
        return second;
    }

    private static void pay(QueueBatch batch, QueuedMessage message) throws Exception {
        Unit unit = batch.begin(List.of(message.key()), null);
        Db.pay(unit.connection(), message.message().id().orElseThrow());
        unit.revoke();
        unit.commit(null);
    }

    private static QueueChange change(QueuedMessage message, QueueMove move) {
        return new QueueChange(message, move, Duration.ZERO, "TEST", null);
    }
}
