package dev.idem.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.broker.Publisher;
import dev.idem.broker.Relay;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.FaultPoint;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Messages of one ordering key, of which the one with the lower number is committed later than the one with the higher. */
class LateCommitTest {
    private static final Duration SOON = Duration.ofSeconds(40);
    private static final Outbox SHIPMENTS = Outbox.named("shipments");

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RO-07 two messages of a key never run at once, and in the order of commits, though a receiver commits late")
    void receivers(Database database) throws Exception {
        Line line = new Line();
        Consumer consumer = Consumer.named("payments")
                .queued(QueuePolicy.inTransaction()
                        .withOrderByKey()
                        .withWorkers(3)
                        .withPoll(Duration.ofMillis(50)))
                .otherwise((message, tx) -> {
                    tx.nothingToDo();
                    line.run(message.id().orElseThrow());
                    return null;
                })
                .build();
        try (Db db = Db.fresh(database);
                Inbox workers = db.inbox(db.pool(8))) {
            workers.start(consumer);
            race(db, line, inbox -> message -> inbox.accept(consumer, message));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RO-07 an outbox publishes a key in the order of commits, one at a time, though a publisher commits late")
    void publishers(Database database) throws Exception {
        Line line = new Line();
        Publisher broker = messages -> {
            messages.forEach(m -> line.run(new String(m.payload(), StandardCharsets.UTF_8)));
            return Map.of();
        };
        Consumer orders = Consumer.named("orders")
                .publishesTo(SHIPMENTS)
                .otherwise((order, tx) -> {
                    tx.publish("shipments", order.toBuilder().id(null).build());
                    return null;
                })
                .build();
        try (Db db = Db.fresh(database);
                Inbox relay = db.inbox(db.pool(8))) {
            relay.start(Relay.of(
                    SHIPMENTS,
                    broker,
                    QueuePolicy.inTransaction().withWorkers(3).withPoll(Duration.ofMillis(50))));
            race(db, line, inbox -> message -> inbox.accept(orders, message));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("receivers that store the same keys in different orders do not wait for each other in a circle")
    void noDeadlock(Database database) throws Exception {
        Consumer consumer = Consumer.named("payments")
                .queued(QueuePolicy.inTransaction().withOrderByKey())
                .otherwise((message, tx) -> null)
                .build();
        AtomicInteger again = new AtomicInteger();
        try (Db db = Db.fresh(database);
                Inbox inbox = Inbox.builder(db.store(db.pool(6)))
                        .listener(new dev.idem.InboxListener() {
                            @Override
                            public void ranAgain(String name, int run, Throwable cause) {
                                again.incrementAndGet();
                            }
                        })
                        .build()) {
            inbox.register(consumer);
            List<CompletableFuture<Void>> receivers = new ArrayList<>();
            for (int receiver = 0; receiver < 4; receiver++) {
                int r = receiver;
                receivers.add(CompletableFuture.runAsync(() -> {
                    for (int batch = 0; batch < 20; batch++) {
                        List<Message> messages = new ArrayList<>();
                        for (int i = 0; i < 20; i++) {
                            messages.add(keyed("m-" + r + "-" + batch + "-" + i, "k" + i));
                        }
                        if (r % 2 == 1) {
                            Collections.reverse(messages);
                        }
                        assertThat(inbox.acceptAll(consumer, messages)).allMatch(Outcome.Stored.class::isInstance);
                    }
                }));
            }
            for (CompletableFuture<Void> receiver : receivers) {
                receiver.get(60, TimeUnit.SECONDS);
            }
            assertThat(again).hasValue(0);
            assertThat(db.number("SELECT count(*) FROM idem_queue")).isEqualTo(1600);
        }
    }

    /** The first is written, and held back before its commit; then the second comes. */
    private static void race(Db db, Line line, Function<Inbox, Function<Message, Outcome<?>>> door) throws Exception {
        CountDownLatch written = new CountDownLatch(1);
        CountDownLatch commit = new CountDownLatch(1);
        Inbox late = Inbox.builder(db.store(db.pool(3)))
                .steps((step, key) -> {
                    if (step == FaultPoint.BEFORE_COMMIT) {
                        written.countDown();
                        awaitQuietly(commit);
                    }
                })
                .build();
        Inbox quick = db.inbox(db.pool(3));
        try (late;
                quick) {
            CompletableFuture<Outcome<?>> first =
                    CompletableFuture.supplyAsync(() -> door.apply(late).apply(keyed("m1", "k")));
            assertThat(written.await(20, TimeUnit.SECONDS)).isTrue();
            CompletableFuture<Outcome<?>> second =
                    CompletableFuture.supplyAsync(() -> door.apply(quick).apply(keyed("m2", "k")));
            await().atMost(SOON).until(() -> line.started.get() > 0 || isBlocked(db));
            commit.countDown();
            first.get(20, TimeUnit.SECONDS);
            second.get(20, TimeUnit.SECONDS);
            await().atMost(SOON).until(() -> line.done.size() == 2);
            assertThat(line.together).as("at once").hasValue(1);
            assertThat(line.done).containsExactly("m1", "m2");
        }
    }

    private static boolean isBlocked(Db db) {
        try {
            db.awaitBlocked(1, Duration.ofMillis(200));
            return true;
        } catch (org.awaitility.core.ConditionTimeoutException nobody) {
            return false;
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    private static Message keyed(String id, String key) {
        return Db.message(id).toBuilder().orderingKey(key).build();
    }

    /** Sees who runs, and waits a while for another who might run at the same time. */
    private static final class Line {
        final AtomicInteger started = new AtomicInteger();
        final AtomicInteger together = new AtomicInteger();
        final List<String> done = Collections.synchronizedList(new ArrayList<>());
        private final AtomicInteger running = new AtomicInteger();
        private final CountDownLatch two = new CountDownLatch(2);

        void run(String id) {
            started.incrementAndGet();
            together.accumulateAndGet(running.incrementAndGet(), Math::max);
            two.countDown();
            try {
                two.await(2, TimeUnit.SECONDS);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
            running.decrementAndGet();
            done.add(id);
        }
    }
}
