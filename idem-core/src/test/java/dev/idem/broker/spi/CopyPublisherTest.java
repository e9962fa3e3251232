package dev.idem.broker.spi;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.RetryPolicy;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.ScriptedInbox;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Dead letters and postponed copies are published beside the lanes. */
class CopyPublisherTest {
    private static final Consumer CONSUMER = Consumer.of("c");
    private static final Outcome<?> DONE = new Outcome.Processed<>("");
    private static final long MANY = 1_000_000;

    private final List<String> acknowledged = Collections.synchronizedList(new ArrayList<>());
    private final List<String> published = Collections.synchronizedList(new ArrayList<>());
    private final List<String> handled = Collections.synchronizedList(new ArrayList<>());
    private final Set<String> refused = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean blocked = new AtomicBoolean();
    private final AtomicBoolean postpones = new AtomicBoolean();
    private final AtomicInteger tries = new AtomicInteger();
    private KeyedExecutor<String> lanes;

    private final Settler<String> settler = new Settler<>() {
        @Override
        public void acknowledge(String delivery) {
            acknowledged.add(delivery);
        }

        @Override
        public void setAside(String delivery, Message message, DeadLetter letter) throws Exception {
            publish(delivery);
        }

        @Override
        public boolean canPostpone(Duration delay) {
            return postpones.get();
        }

        @Override
        public void postpone(String delivery, Message message, Duration delay, int failures) throws Exception {
            publish(delivery + "#" + failures);
        }

        private void publish(String copy) throws Exception {
            tries.incrementAndGet();
            while (blocked.get()) {
                Thread.sleep(5);
            }
            if (refused.stream().anyMatch(copy::startsWith)) {
                throw new IOException("refused");
            }
            published.add(copy);
        }
    };

    private void start(int count, Inbox inbox) {
        RetryPolicy quick = RetryPolicy.fixed(ofMillis(20)).withMaxAttempts(3);
        lanes = KeyedExecutor.start(
                new KeyedExecutor.Options("test", count, quick, Thread::new, 100, MANY), inbox, CONSUMER, settler);
    }

    /** Those whose id begins with bad fail for good, those with late fail once each time. */
    private Inbox inbox() {
        return ScriptedInbox.each(message -> {
            String id = message.id().orElseThrow();
            handled.add(id);
            if (id.startsWith("bad")) {
                return new Outcome.Failed<>(Failure.TERMINAL, new IllegalStateException("no"));
            }
            boolean again = id.startsWith("late") && Collections.frequency(handled, id) == 1;
            return again ? new Outcome.Failed<>(Failure.RETRYABLE, new IllegalStateException("later")) : DONE;
        });
    }

    @AfterEach
    void close() {
        blocked.set(false);
        lanes.close(ofSeconds(5));
    }

    private static KeyedExecutor.Delivery<String> delivery(String id, String key) {
        return new KeyedExecutor.Delivery<>(
                id,
                Message.builder()
                        .id(id)
                        .orderingKey(key)
                        .payload(new byte[1_000])
                        .build(),
                0);
    }

    private void add(String id, String key) {
        lanes.add(List.of(delivery(id, key)));
    }

    @Test
    void aBlockedPublisherHoldsUpNoOtherKeyAndIsReported() {
        blocked.set(true);
        start(1, inbox());
        add("bad", "k");
        await().until(() -> tries.get() == 1);
        IntStream.range(0, 300).forEach(i -> add("good" + i, "o" + i));
        add("behind", "k");
        await().until(() -> acknowledged.size() == 300);
        assertThat(handled).doesNotContain("behind");
        assertThat(lanes.pending()).isEqualTo(2);
        await().atMost(ofSeconds(20)).until(() -> lanes.waiting().isPresent());
        assertThat(lanes.waiting()).get().satisfies(waiting -> {
            assertThat(waiting.what()).contains("dead letters");
            assertThat(waiting.why()).contains("not confirmed");
        });
        blocked.set(false);
        await().until(() -> lanes.pending() == 0);
        assertThat(published).containsExactly("bad");
        assertThat(acknowledged).endsWith("behind");
        assertThat(lanes.waiting()).isEmpty();
        assertThat(lanes.pendingBytes()).isZero();
    }

    @Test
    void aLetterThatFailsForeverKeepsOnlyItsKeyAndIsReportedAlsoWhenOthersArePublished() {
        refused.add("bad-1");
        start(2, inbox());
        add("bad-1", "k");
        await().until(() -> tries.get() >= 2);
        add("behind", "k");
        IntStream.range(0, 50).forEach(i -> add((i % 5 == 0 ? "bad-2-" : "good") + i, "o" + i));
        await().until(() -> acknowledged.size() == 40 && published.size() == 10);
        assertThat(lanes.pending()).isEqualTo(2);
        assertThat(lanes.waiting()).get().satisfies(waiting -> {
            assertThat(waiting.what()).contains("dead letters");
            assertThat(waiting.why()).contains("refused");
        });
        assertThat(Collections.frequency(handled, "bad-1")).isEqualTo(1);
        refused.clear();
        await().until(() -> lanes.pending() == 0);
        assertThat(acknowledged).endsWith("behind");
        assertThat(lanes.waiting()).isEmpty();
    }

    @Test
    void postponedCopiesThatFailWaitHere() {
        postpones.set(true);
        refused.add("late");
        start(1, inbox());
        add("late", "k");
        await().until(() -> acknowledged.contains("late"));
        assertThat(tries).hasValue(1);
        assertThat(handled).containsExactly("late", "late");
        await().until(() -> lanes.pending() == 0);
        assertThat(lanes.waiting()).isEmpty();
    }

    @Test
    void aPostponedMessageThatWaitsHereDoesNotPassALetterOfItsKey() {
        postpones.set(true);
        refused.add("late");
        refused.add("bad");
        start(1, inbox());
        lanes.add(List.of(delivery("late", "k"), delivery("bad", "k"), delivery("behind", "k")));
        await().until(() -> acknowledged.contains("late") && tries.get() >= 3);
        assertThat(Collections.frequency(handled, "bad")).isEqualTo(1);
        refused.clear();
        await().until(() -> lanes.pending() == 0);
        assertThat(published).containsExactly("bad");
        assertThat(acknowledged).contains("behind");
    }

    @Test
    void enoughBytesAreEnough() {
        blocked.set(true);
        lanes = KeyedExecutor.start(
                new KeyedExecutor.Options("test", 1, RetryPolicy.fixed(ofMillis(20)), Thread::new, 100, 10_000),
                inbox(),
                CONSUMER,
                settler);
        IntStream.range(0, 9).forEach(i -> add("bad" + i, "o" + i));
        await().until(() -> handled.size() == 9);
        assertThat(lanes.pendingBytes()).isEqualTo(9_000);
        assertThat(lanes.isFull()).isFalse();
        assertThat(lanes.isHalfEmpty()).isFalse();
        add("bad9", "o9");
        assertThat(lanes.isFull()).isTrue();
        blocked.set(false);
        await().until(() -> lanes.pendingBytes() == 0);
        assertThat(lanes.isFull()).isFalse();
        assertThat(lanes.isHalfEmpty()).isTrue();
    }

    @Test
    void closingPublishesTheLettersThatAreDecided() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        Inbox inbox = inbox();
        start(1, ScriptedInbox.each(message -> {
            begun.countDown();
            try {
                mayEnd.await();
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
            return inbox.acceptAll(CONSUMER, List.of(message)).get(0);
        }));
        lanes.add(List.of(delivery("bad1", "a"), delivery("bad2", "b")));
        begun.await();
        Thread closing = new Thread(() -> lanes.close(ofSeconds(10)));
        closing.start();
        mayEnd.countDown();
        closing.join();
        assertThat(published).containsExactly("bad1", "bad2");
    }

    @Test
    void closingDoesNotWaitForeverForABlockedPublisher() {
        blocked.set(true);
        start(1, inbox());
        add("bad", "k");
        await().until(() -> tries.get() == 1);
        long begun = System.nanoTime();
        assertThat(lanes.close(ofMillis(200))).isFalse();
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(ofSeconds(5));
        assertThat(published).isEmpty();
    }

    @Test
    void whatIsForgottenIsNotPublishedAndNotCounted() {
        postpones.set(true);
        refused.add("bad");
        refused.add("late");
        blocked.set(true);
        start(2, inbox());
        add("bad-first", "k1");
        await().until(() -> tries.get() == 1);
        add("late-1", "k2");
        add("bad-1", "k3");
        await().until(() -> handled.size() == 3);
        add("stays", "k3");
        assertThat(lanes.forget(id -> !id.equals("stays"), ofMillis(50))).isFalse(); // one is being published
        assertThat(lanes.pending()).isLessThanOrEqualTo(1);
        blocked.set(false);
        assertThat(lanes.forget(id -> !id.equals("stays"), ofSeconds(5))).isTrue();
        await().until(() -> acknowledged.contains("stays"));
        await().until(() -> lanes.pending() == 0 && lanes.pendingBytes() == 0);
        assertThat(tries).hasValue(1);
        assertThat(lanes.waiting()).isEmpty();
    }
}
