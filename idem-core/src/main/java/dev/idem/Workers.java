package dev.idem;

import dev.idem.spi.QueueStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The workers of an inbox, and the one who looks after what crashes have left. Thread-safe. */
final class Workers implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final Duration CARE_EVERY = Duration.ofSeconds(5);
    private static final Duration LAST_WORDS = Duration.ofSeconds(2);

    private final Engine engine;
    private final QueueStore store;
    private final Bells bells;
    private final Leases leases;
    private final Duration drain;
    private final @Nullable GapKeeper gaps;
    private final Map<String, Breaker> consumers = new LinkedHashMap<>();
    private final List<QueueWorker> workers = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread care = new Thread(this::takeCare, "idem-care");

    /**
     * The workers of a store.
     *
     * @param drain how long closing waits for handlers that are running
     * @param gaps who sees to gaps, where the store keeps sequences
     */
    Workers(Engine engine, QueueStore store, Bells bells, Duration drain, @Nullable GapKeeper gaps) {
        this.engine = engine;
        this.store = store;
        this.bells = bells;
        this.drain = drain;
        this.gaps = gaps;
        this.leases = new Leases(store);
        care.setDaemon(true);
    }

    synchronized void start(Consumer consumer) {
        if (closed.getCount() == 0) {
            throw new IllegalStateException("The inbox is closed");
        }
        if (consumers.containsKey(consumer.name())) {
            throw new IllegalArgumentException("The workers of " + consumer.name() + " are running already");
        }
        recoverFirst(consumer.name());
        QueuePolicy policy = consumer.queue().orElseThrow();
        Breaker breaker = new Breaker(consumer.name(), engine.events());
        consumers.put(consumer.name(), breaker);
        Isolation isolation = new Isolation();
        for (int i = 0; i < policy.workers(); i++) {
            QueueStore.Taking taking = new QueueStore.Taking(
                    consumer.name(),
                    ThreadLocalRandom.current().nextLong(),
                    "pid " + ProcessHandle.current().pid() + "/" + consumer.name() + "-" + i,
                    policy.batch(),
                    policy.isOrdered(),
                    policy.payloadWindow(),
                    policy.isOrdered() && policy.whenParked() == QueuePolicy.WhenParked.PARK);
            QueueWorker worker = new QueueWorker(
                    engine.forWorker(isolation),
                    engine.permits(),
                    store,
                    consumer,
                    taking,
                    bells.of(consumer.name()),
                    leases,
                    breaker,
                    gaps);
            workers.add(worker);
            threads.add(Threads.start("idem-" + consumer.name() + "-" + i, policy.virtualThreads(), worker));
        }
        if (store instanceof QueueStore.Waking waking) {
            Bells.Bell bell = bells.of(consumer.name());
            waking.onWake(consumer.name(), () -> bell.ring(1)); // a worker that finds much wakes the next one
        }
        if (care.getState() == Thread.State.NEW) {
            care.start();
        }
        log.info(
                "{}: {} workers, {}",
                consumer.name(),
                policy.workers(),
                policy.isLeased() ? "leases of " + policy.lease() : "in one transaction");
    }

    /** Before anybody takes anything: what ended the process before this one would else be taken again at once. */
    private void recoverFirst(String consumer) {
        try {
            store.recover(consumer);
        } catch (RuntimeException failure) {
            log.debug("{}: looking after its queue failed; tried again later", consumer, failure);
        }
    }

    private synchronized List<String> names() {
        return List.copyOf(consumers.keySet());
    }

    private void takeCare() {
        int failures = 0;
        do {
            try {
                names().forEach(this::recover);
                failures = 0;
            } catch (Throwable failure) { // nothing may end the thread that looks after the rest
                failures = Math.min(failures + 1, 2);
                log.debug("Looking after the queues failed; tried again later", failure);
            }
        } while (pause(CARE_EVERY.multipliedBy(1L << failures)));
    }

    private void recover(String consumer) {
        if (store.recover(consumer) > 0) {
            bells.of(consumer).ring(1);
        }
    }

    /** False when it is time to stop. Jittered, so that instances that start together do not knock together for ever. */
    private boolean pause(Duration longest) {
        try {
            long nanos = longest.toNanos();
            return !closed.await(nanos / 2 + ThreadLocalRandom.current().nextLong(nanos / 2), TimeUnit.NANOSECONDS);
        } catch (InterruptedException stop) {
            return false;
        }
    }

    /** Takes nothing more, waits for handlers that are running, interrupts those that take too long, and gives back. */
    @Override
    public void close() {
        synchronized (this) {
            closed.countDown();
            workers.forEach(QueueWorker::stop);
            consumers.values().forEach(Breaker::stop);
        }
        bells.ringAll();
        try {
            join(drain);
            for (Thread thread : threads) {
                if (thread.isAlive()) {
                    log.warn("{} did not end within {}; interrupted", thread.getName(), drain);
                    thread.interrupt();
                }
            }
            join(LAST_WORDS);
            care.join(LAST_WORDS.toMillis());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            threads.forEach(Thread::interrupt);
        }
        leases.close();
    }

    private void join(Duration longest) throws InterruptedException {
        long until = System.nanoTime() + longest.toNanos();
        for (Thread thread : threads) {
            long left = (until - System.nanoTime()) / 1_000_000;
            if (thread != Thread.currentThread() && left > 0) {
                thread.join(left);
            }
        }
    }
}
