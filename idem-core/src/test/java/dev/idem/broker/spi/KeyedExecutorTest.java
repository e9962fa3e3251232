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
import dev.idem.StoreException;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.ScriptedInbox;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class KeyedExecutorTest {
    private static final Consumer CONSUMER = Consumer.of("billing");
    private static final RetryPolicy QUICK = RetryPolicy.fixed(ofMillis(5)).withMaxAttempts(3);
    private static final Outcome<?> DONE = new Outcome.Processed<>("");

    private final List<String> acknowledged = Collections.synchronizedList(new ArrayList<>());
    private final List<DeadLetter> letters = Collections.synchronizedList(new ArrayList<>());
    private final AtomicBoolean publishingFails = new AtomicBoolean();
    private final AtomicInteger publishes = new AtomicInteger();
    private KeyedExecutor<String> lanes;

    private final Settler<String> settler = new Settler<>() {
        @Override
        public void acknowledge(String delivery) {
            acknowledged.add(delivery);
        }

        @Override
        public void setAside(String delivery, Message message, DeadLetter letter) throws Exception {
            publishes.incrementAndGet();
            if (publishingFails.get()) {
                throw new java.io.IOException("no broker");
            }
            letters.add(letter);
            acknowledged.add(delivery);
        }
    };

    private void start(int count, Inbox inbox) {
        lanes = KeyedExecutor.start(
                new KeyedExecutor.Options("test", count, QUICK, Thread::new, 1_000, 1_000_000),
                inbox,
                CONSUMER,
                settler);
    }

    @AfterEach
    void close() {
        lanes.close(ofSeconds(5));
    }

    private static KeyedExecutor.Delivery<String> delivery(String id, String key) {
        return new KeyedExecutor.Delivery<>(
                id, Message.builder().id(id).orderingKey(key).build(), 0);
    }

    private static Outcome<?> failed(Failure kind) {
        return new Outcome.Failed<>(kind, new IllegalStateException("no"));
    }

    @Test
    @DisplayName("RO-01 a message that fails holds back its own key, and others flow on; then its followers, in order")
    void aFailingKeyWaitsAlone() {
        AtomicBoolean repaired = new AtomicBoolean();
        start(1, ScriptedInbox.answering(messages -> {
            List<Outcome<?>> outcomes = new ArrayList<>();
            boolean failing = false;
            for (Message message : messages) {
                boolean bad = message.orderingKey().orElse("").equals("bad") && !repaired.get();
                outcomes.add(
                        !bad ? DONE : failing ? new Outcome.Held<>(OptionalLong.empty(), false) : new Outcome.Busy<>());
                failing |= bad;
            }
            return outcomes;
        }));
        lanes.add(List.of(delivery("b1", "bad"), delivery("g1", "good"), delivery("b2", "bad")));
        await().until(() -> acknowledged.contains("g1"));
        lanes.add(List.of(delivery("b3", "bad"), delivery("g2", "good")));
        await().until(() -> acknowledged.contains("g2"));
        assertThat(acknowledged).containsExactly("g1", "g2");
        assertThat(lanes.pending()).isEqualTo(3);
        repaired.set(true);
        await().until(() -> acknowledged.size() == 5);
        assertThat(acknowledged).containsExactly("g1", "g2", "b1", "b2", "b3");
        await().until(() -> lanes.pending() == 0);
    }

    @Test
    @DisplayName(
            "KF-18 a store that is away costs no attempts, is asked ever more seldom, and everything is done after it")
    void anOutageCostsNothing() throws Exception {
        AtomicBoolean away = new AtomicBoolean(true);
        AtomicInteger calls = new AtomicInteger();
        start(2, ScriptedInbox.each(message -> {
            calls.incrementAndGet();
            return away.get() ? new Outcome.Failed<>(Failure.INFRASTRUCTURE, new StoreException("away", null)) : DONE;
        }));
        lanes.add(
                IntStream.range(0, 10).mapToObj(i -> delivery("m" + i, "k" + i)).toList());
        await().until(lanes::isStoreAway);
        Thread.sleep(1_500);
        assertThat(calls.get()).as("asked in one and a half seconds").isLessThan(200);
        assertThat(letters).isEmpty();
        away.set(false);
        await().atMost(Duration.ofSeconds(10)).until(() -> acknowledged.size() == 10);
        assertThat(lanes.isStoreAway()).isFalse();
    }

    @Test
    void whatFailsTooOftenIsSetAside() {
        AtomicInteger runs = new AtomicInteger();
        start(1, ScriptedInbox.each(message -> {
            runs.incrementAndGet();
            return failed(Failure.RETRYABLE);
        }));
        lanes.add(List.of(delivery("m", "k")));
        await().until(() -> acknowledged.contains("m"));
        assertThat(runs).hasValue(3);
        assertThat(letters).singleElement().satisfies(letter -> {
            assertThat(letter.reason()).isEqualTo("EXHAUSTED");
            assertThat(letter.attempts()).isEqualTo(3);
            assertThat(letter.error()).contains(IllegalStateException.class.getName());
        });
    }

    @Test
    @DisplayName("KF-14 a dead letter that cannot be published is not acknowledged, and its handler is left in peace")
    void aLetterThatCannotBePublishedIsKept() {
        AtomicInteger runs = new AtomicInteger();
        publishingFails.set(true);
        start(1, ScriptedInbox.each(message -> {
            runs.incrementAndGet();
            return message.orderingKey().orElse("").equals("bad") ? failed(Failure.TERMINAL) : DONE;
        }));
        lanes.add(List.of(delivery("m", "bad"), delivery("n", "good")));
        await().until(() -> publishes.get() >= 2);
        assertThat(acknowledged).containsExactly("n");
        publishingFails.set(false);
        await().until(() -> acknowledged.contains("m"));
        assertThat(runs).hasValue(2);
        assertThat(letters).hasSize(1);
    }

    @Test
    @DisplayName("KF-14 behind a letter that is not out yet nothing of its key is handled, else a mark would pass it")
    void nothingPassesALetterThatIsNotOut() throws Exception {
        List<String> handled = Collections.synchronizedList(new ArrayList<>());
        publishingFails.set(true);
        start(1, ScriptedInbox.each(message -> {
            handled.add(message.id().orElseThrow());
            return message.id().orElseThrow().equals("bad") ? failed(Failure.TERMINAL) : DONE;
        }));
        lanes.add(List.of(delivery("bad", "k")));
        await().until(() -> publishes.get() >= 1);
        lanes.add(List.of(delivery("next", "k"), delivery("other", "o")));
        await().until(() -> publishes.get() >= 3 && acknowledged.contains("other"));
        assertThat(handled).containsExactly("bad", "other");
        publishingFails.set(false);
        await().until(() -> acknowledged.contains("next"));
        assertThat(acknowledged).containsSubsequence("bad", "next");
    }

    @Test
    @DisplayName("RO-10 a message that never gets an answer, though others do, neither loops nor holds them up")
    void oneThatNeverGetsAnAnswer() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        start(2, ScriptedInbox.each(message -> {
            if (!message.id().orElseThrow().equals("bad")) {
                return DONE;
            }
            runs.incrementAndGet();
            return new Outcome.Failed<>(Failure.INFRASTRUCTURE, new StoreException("always", null));
        }));
        lanes.add(List.of(delivery("bad", "bad")));
        for (int i = 0; i < 100; i++) {
            lanes.add(List.of(delivery("m" + i, "k" + i)));
            Thread.sleep(10);
        }
        await().atMost(ofSeconds(10)).until(() -> acknowledged.size() == 100);
        assertThat(runs.get()).as("runs in a second").isLessThan(40);
    }

    @Test
    @DisplayName("an interrupt that a handler leaves behind ends no lane")
    void interruptsOfHandlers() {
        start(1, ScriptedInbox.each(message -> {
            Thread.currentThread().interrupt();
            return DONE;
        }));
        lanes.add(List.of(delivery("m1", "k")));
        await().until(() -> acknowledged.contains("m1"));
        lanes.add(List.of(delivery("m2", "k")));
        await().until(() -> acknowledged.contains("m2"));
    }

    @Test
    @DisplayName("KF-01 what is forgotten is not begun; what was begun is awaited, within the bound")
    void forgetting() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        List<String> handled = Collections.synchronizedList(new ArrayList<>());
        start(1, ScriptedInbox.each(message -> {
            handled.add(message.id().orElseThrow());
            begun.countDown();
            try {
                mayEnd.await();
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
            return DONE;
        }));
        lanes.add(List.of(delivery("a1", "k")));
        begun.await();
        lanes.add(List.of(delivery("a2", "k"), delivery("b1", "k")));
        assertThat(lanes.forget(id -> id.startsWith("a"), ofMillis(50))).isFalse();
        mayEnd.countDown();
        assertThat(lanes.forget(id -> id.startsWith("a"), ofSeconds(5))).isTrue();
        await().until(() -> acknowledged.contains("b1"));
        assertThat(handled).containsExactly("a1", "b1");
        assertThat(lanes.pending()).isZero();
    }

    @Test
    void closingBeginsNothingMore() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        start(1, ScriptedInbox.each(message -> {
            begun.countDown();
            try {
                Thread.sleep(50);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
            return DONE;
        }));
        lanes.add(List.of(delivery("m1", "k")));
        begun.await();
        lanes.add(List.of(delivery("m2", "k")));
        assertThat(lanes.close(ofSeconds(5))).isTrue();
        assertThat(acknowledged).containsExactly("m1");
    }

    @Test
    void aLaneThatDiesIsSeen() {
        start(1, ScriptedInbox.each(message -> {
            throw new OutOfMemoryError("a test's");
        }));
        lanes.add(List.of(delivery("m", "k")));
        await().until(() -> lanes.failure().isPresent());
        assertThat(acknowledged).isEmpty();
    }

    @Test
    @DisplayName(
            "RO-01 KF-04 many keys in many lanes, failing at random: each key is acknowledged in its order, nothing twice")
    void orderOfEachKey() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Map<String, Integer> failuresLeft = new ConcurrentHashMap<>();
        start(3, ScriptedInbox.answering(messages -> {
            List<Outcome<?>> outcomes = new ArrayList<>();
            Map<String, Boolean> held = new HashMap<>();
            for (Message message : messages) {
                String key = message.orderingKey().orElseThrow();
                boolean fails = failuresLeft.merge(message.id().orElseThrow(), -1, Integer::sum) >= 0;
                outcomes.add(
                        held.containsKey(key)
                                ? new Outcome.Held<>(OptionalLong.empty(), false)
                                : fails ? new Outcome.Busy<>() : DONE);
                if (fails) {
                    held.put(key, true);
                }
            }
            return outcomes;
        }));
        List<KeyedExecutor.Delivery<String>> all = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            String id = i + "";
            failuresLeft.put(id, random.nextInt(40) == 0 ? 1 : 0);
            all.add(delivery(id, "k" + random.nextInt(20)));
        }
        for (int from = 0; from < all.size(); from += 37) {
            lanes.add(all.subList(from, Math.min(all.size(), from + 37)));
        }
        await().atMost(ofSeconds(60)).until(() -> acknowledged.size() >= all.size());
        assertThat(acknowledged).as("seed %s", seed).doesNotHaveDuplicates().hasSize(all.size());
        Map<String, Integer> last = new HashMap<>();
        Map<String, String> keyOf = new HashMap<>();
        all.forEach(d -> keyOf.put(d.origin(), d.message().orderingKey().orElseThrow()));
        for (String id : List.copyOf(acknowledged)) {
            Integer before = last.put(keyOf.get(id), Integer.parseInt(id));
            assertThat(before == null || before < Integer.parseInt(id))
                    .as("%s after %s, seed %s", id, before, seed)
                    .isTrue();
        }
    }
}
