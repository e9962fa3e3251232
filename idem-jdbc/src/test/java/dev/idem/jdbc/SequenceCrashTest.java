package dev.idem.jdbc;

import static dev.idem.jdbc.SequenceBench.FROM_ONE;
import static dev.idem.jdbc.SequenceBench.LEASED;
import static dev.idem.jdbc.SequenceBench.TAKEN;
import static dev.idem.jdbc.SequenceBench.message;
import static dev.idem.jdbc.SequenceBench.messages;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.FaultHook;
import dev.idem.spi.FaultPoint;
import dev.idem.spi.QueueStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A worker that ends in the middle leaves a stream that another one can go on with. */
class SequenceCrashTest {
    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RO-09 a worker that dies before or after a commit that holds or applies loses nothing and applies nothing"
                    + " twice")
    void killed(Database database) throws Exception {
        for (FaultPoint step : List.of(FaultPoint.BEFORE_COMMIT, FaultPoint.AFTER_COMMIT)) {
            for (int nth = 1; nth <= 3; nth++) {
                died(database, step, nth);
            }
        }
    }

    private static void died(Database database, FaultPoint where, int nth) throws Exception {
        AtomicInteger count = new AtomicInteger();
        CountDownLatch dead = new CountDownLatch(1);
        Thread[] main = {Thread.currentThread()};
        FaultHook killer = (step, key) -> {
            if (step == where && Thread.currentThread() != main[0] && count.incrementAndGet() >= nth) {
                dead.countDown();
                throw new ThreadDeath();
            }
        };
        try (SequenceBench bench = new SequenceBench(database)) {
            bench.streams("a");
            QueuePolicy one = TAKEN.withWorkers(1).withBatch(1);
            Consumer consumer = bench.queued(one, FROM_ONE.gapDeadline(Duration.ofHours(1)));
            bench.inbox.acceptAll(consumer, messages("a", 3, 2, 1));
            try (Inbox dying = bench.inbox(killer, new InboxListener() {})) {
                dying.start(consumer);
                assertThat(dead.await(20, TimeUnit.SECONDS)).isTrue();
            }
            bench.inbox.start(consumer);
            bench.awaitApplied("a", 3);
            bench.awaitRows("1 = 1", 0);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "PC-04 RO-13 a message that is held for a version is seen by itself when its deadline is over, also by leases")
    void heldIsVisible(Database database) {
        for (QueuePolicy policy : List.of(TAKEN, LEASED)) {
            try (SequenceBench bench = new SequenceBench(database);
                    JdbcStore store = bench.db.store()) {
                Consumer consumer = bench.queued(policy, FROM_ONE.gapDeadline(Duration.ofHours(1)));
                bench.inbox.accept(consumer, message("a", 2));
                bench.inbox.start(consumer);
                bench.awaitRows("status = 3", 1);
                bench.inbox.close();
                QueueStore.Taking taking = new QueueStore.Taking("chain", 7, "worker", 10, false, Duration.ZERO, false);
                assertThat(store.queue().take(taking)).isEmpty();
                assertThat(store.queue().nextDue("chain")).isPresent();
                assertThat(store.queue().recover("chain")).isZero();
                bench.db.execute("UPDATE idem_queue SET due_at = 1");
                assertThat(store.queue().lease(taking, Duration.ofSeconds(1)))
                        .hasSize(1)
                        .allMatch(queued -> queued.overdue());
            }
        }
    }
}
