package dev.idem.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Settlement;
import dev.idem.Transaction;
import dev.idem.Work;
import dev.idem.spi.MarkerStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/**
 * What all contracts share: inboxes that are closed afterwards, messages nobody else has, threads, and the count of effects.
 * The parts of a contract are a chain of classes, one theme each, because a test class inherits only that way.
 */
@Timeout(60)
abstract class ContractBench {
    static final Duration SHORT = Duration.ofMillis(50);
    static final Duration LONG = Duration.ofSeconds(20);

    private final List<Inbox> inboxes = new ArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, AtomicInteger> completed = new ConcurrentHashMap<>();
    private @Nullable MarkerStore shared;

    /**
     * Opens the store under test. Called several times in a test: all stores it returns share their markers, as those of
     * several processes on one database do. It need not be empty; every test takes ids that nobody else has.
     */
    protected abstract MarkerStore store() throws Exception;

    /** What handlers write in these tests, if there is anything to write through. The id is a short ASCII text. */
    void writeEffect(Transaction tx, String effect) throws Exception {}

    /** How often it is there. Where nothing can be written, the deliveries that were called processed count. */
    int countEffects(String effect) throws Exception {
        return completed(effect);
    }

    private int completed(String effect) {
        return completed.computeIfAbsent(effect, e -> new AtomicInteger()).get();
    }

    @AfterEach
    void closeEverything() {
        threads.shutdownNow();
        inboxes.forEach(Inbox::close);
    }

    /** A process of its own, as far as the key gate is concerned. */
    final Inbox inbox() throws Exception {
        return inbox(Inbox.builder(store()));
    }

    final Inbox inbox(Inbox.Builder builder) {
        Inbox inbox = builder.build();
        synchronized (inboxes) {
            inboxes.add(inbox);
        }
        return inbox;
    }

    /** So many processes, on two stores. */
    final List<Inbox> inboxes(int count) throws Exception {
        List<MarkerStore> stores = List.of(store(), store());
        List<Inbox> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(inbox(Inbox.builder(stores.get(i % 2))));
        }
        return all;
    }

    /** One store for tests that speak to it without an inbox. */
    final MarkerStore sharedStore() throws Exception {
        if (shared == null) {
            shared = inbox().store();
        }
        return shared;
    }

    static Consumer consumer() {
        return consumer(policy -> policy);
    }

    /** Waits long for a twin and says nothing about unused transactions, unless the test changes that. */
    static Consumer consumer(UnaryOperator<Policy> change) {
        Policy base = Policy.defaults().withBusyWait(LONG).withUnusedTransaction(Policy.UnusedTransaction.ALLOW);
        return Consumer.named("contract").policy(change.apply(base)).build();
    }

    static String fresh() {
        return "m-" + UUID.randomUUID().toString().substring(0, 18) + "-x";
    }

    static Message message(String id) {
        return Message.of(id, "payload".getBytes(StandardCharsets.UTF_8));
    }

    /** The message with one byte changed. */
    static Message tampered(Message message) {
        byte[] payload = message.payload();
        payload[payload.length - 1] ^= 1;
        return message.toBuilder().payload(payload).build();
    }

    /** Effects are told apart by what any text column can hold, whatever is in the id. */
    static String effectOf(Message message) {
        String id = message.source().orElse("") + "|" + message.id().orElse("none");
        return UUID.nameUUIDFromBytes(id.getBytes(StandardCharsets.UTF_16BE)).toString();
    }

    final Outcome<String> deliver(Inbox inbox, Message message) throws Exception {
        return deliver(inbox, consumer(), message, tx -> "done");
    }

    final Outcome<String> deliver(Inbox inbox, Consumer consumer, Message message) throws Exception {
        return deliver(inbox, consumer, message, tx -> "done");
    }

    /** Delivers once; the handler writes its effect and then does what the test wants. */
    final Outcome<String> deliver(Inbox inbox, Consumer consumer, Message message, Work<String, Exception> then)
            throws Exception {
        Outcome<String> outcome = inbox.process(consumer, message, tx -> {
            writeEffect(tx, effectOf(message));
            return then.run(tx);
        });
        return noted(message, outcome);
    }

    final <T extends @Nullable Object> Outcome<T> noted(Message message, Outcome<T> outcome) {
        if (outcome instanceof Outcome.Processed) {
            completed
                    .computeIfAbsent(effectOf(message), e -> new AtomicInteger())
                    .incrementAndGet();
        }
        return outcome;
    }

    /** Delivers as a broker does: again and again until it is acknowledged or set aside. */
    final Outcome<String> deliverUntilSettled(Inbox inbox, Consumer consumer, Message message) throws Exception {
        return deliverUntilSettled(inbox, consumer, message, tx -> "done");
    }

    final Outcome<String> deliverUntilSettled(
            Inbox inbox, Consumer consumer, Message message, Work<String, Exception> then) throws Exception {
        Outcome<String> outcome = deliver(inbox, consumer, message, then);
        long end = System.nanoTime() + LONG.toNanos();
        while (outcome.settlement() == Settlement.RETRY && System.nanoTime() < end) {
            outcome = deliver(inbox, consumer, message, then);
        }
        return outcome;
    }

    final void assertDoneOnce(Message message) throws Exception {
        assertEffects(message, 1);
    }

    final void assertNothingLeft(Message message) throws Exception {
        assertEffects(message, 0);
    }

    final void assertEffects(Message message, int expected) throws Exception {
        assertThat(completed(effectOf(message)))
                .as("deliveries of %s called processed", message)
                .isEqualTo(expected);
        assertThat(countEffects(effectOf(message))).as("effects of %s", message).isEqualTo(expected);
    }

    final <T> Future<T> start(Callable<T> task) {
        return threads.submit(task);
    }

    static <T> T result(Future<T> future) throws Exception {
        return future.get(LONG.toSeconds(), TimeUnit.SECONDS);
    }

    /** Runs all at the same moment, and waits for all of them. */
    final <T> List<T> inParallel(List<? extends Callable<T>> tasks) throws Exception {
        CountDownLatch start = new CountDownLatch(tasks.size());
        List<Future<T>> futures = new ArrayList<>();
        for (Callable<T> task : tasks) {
            futures.add(start(() -> {
                start.countDown();
                start.await();
                return task.call();
            }));
        }
        List<T> results = new ArrayList<>();
        for (Future<T> future : futures) {
            results.add(result(future));
        }
        return results;
    }

    static void await(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(LONG.toSeconds(), TimeUnit.SECONDS))
                .as("what this test waits for has happened")
                .isTrue();
    }

    static boolean becomesTrue(BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        while (!condition.getAsBoolean() && System.nanoTime() < end) {
            Thread.sleep(5);
        }
        return condition.getAsBoolean();
    }
}
