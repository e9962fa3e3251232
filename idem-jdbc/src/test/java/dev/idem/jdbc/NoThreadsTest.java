package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.RetryPolicy;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueuePolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A process in which, now and then, no thread can be started. Nothing here depends on the database. */
class NoThreadsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final CountDownLatch end = new CountDownLatch(1);
    private final Refusing refusing = new Refusing();

    @AfterEach
    void goOn() {
        end.countDown();
        refusing.remove();
    }

    @Test
    @DisplayName("HX-04 a thread that cannot be started while a stuck worker is replaced is started later")
    void whileAWorkerIsReplaced() throws Exception {
        refusing.set(Set.of(
                "idem-deadlines in Watch",
                "idem-rescue in StuckTurn",
                "idem-rescue in WorkerPool",
                "idem-payments in WorkerPool"));
        try (Db db = Db.fresh(Database.H2);
                Inbox inbox = Inbox.builder(db.store(db.pool(12)))
                        .drain(Duration.ZERO)
                        .build()) {
            Consumer consumer = consumer(QueuePolicy.inTransaction()
                    .withWorkers(1)
                    .withBatch(1)
                    .withRetry(RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(10)));
            List<Message> messages = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                messages.add(Db.message("stuck" + i)); // one more than are replaced
            }
            inbox.acceptAll(consumer, messages);
            inbox.start(consumer);
            await().atMost(PATIENCE).until(() -> db.number("SELECT count(*) FROM idem_attempt") == 5);
            inbox.accept(consumer, Db.message("m"));
            end.countDown(); // whoever comes back starts another one
            await().atMost(PATIENCE)
                    .until(() -> db.payments() + inbox.queueStats("payments").parked() == 6);
            assertThat(db.payments("m")).isEqualTo(1);
            assertThat(refusing.refused)
                    .containsExactlyInAnyOrder(
                            "idem-deadlines in Watch",
                            "idem-rescue in StuckTurn",
                            "idem-rescue in WorkerPool",
                            "idem-payments in WorkerPool");
        }
    }

    @Test
    @DisplayName("workers that could not be started can be started again")
    void atTheStart() throws Exception {
        try (Db db = Db.fresh(Database.H2);
                Inbox inbox = db.inbox(db.pool(6))) {
            Consumer consumer = consumer(QueuePolicy.inTransaction().withWorkers(2));
            inbox.accept(consumer, Db.message("m1"));
            String here = Thread.currentThread().getName() + " in WorkerPool";
            refusing.set(Set.of(here));
            assertThatThrownBy(() -> inbox.start(consumer)).isInstanceOf(OutOfMemoryError.class);
            inbox.start(consumer);
            await().atMost(PATIENCE).until(() -> db.payments() == 1);
        }
    }

    private Consumer consumer(QueuePolicy policy) {
        return Consumer.named("payments")
                .policy(Policy.defaults().withHandlerTimeout(Duration.ofMillis(200)))
                .queued(policy)
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    if (message.id().orElseThrow().startsWith("stuck")) {
                        hang();
                    }
                    return null;
                })
                .build();
    }

    private void hang() {
        boolean ended = false;
        while (!ended) {
            try {
                end.await();
                ended = true;
            } catch (InterruptedException ignored) {
                // that is what makes it stuck
            }
        }
    }

    /**
     * Inherited by every thread that descends from the test's, and asked whenever one of them makes another. Refuses the
     * first thread that is made in each of its places: on which thread, in which class.
     */
    private static final class Refusing extends InheritableThreadLocal<Set<String>> {
        private final Set<String> refused = ConcurrentHashMap.newKeySet();

        @Override
        protected Set<String> childValue(Set<String> places) {
            String thread = Thread.currentThread().getName().replaceFirst("-\\d+$", "");
            String place = StackWalker.getInstance()
                    .walk(frames -> frames.map(StackWalker.StackFrame::getClassName)
                            .filter(name -> name.startsWith("dev.idem.")
                                    && !name.endsWith(".Threads")
                                    && !name.contains("NoThreadsTest"))
                            .findFirst()
                            .map(name -> thread + " in " + name.replaceFirst("^.*[.$]", ""))
                            .orElse(""));
            if (places.contains(place) && refused.add(place)) {
                throw new OutOfMemoryError("no thread can be started, on purpose");
            }
            return places;
        }
    }
}
