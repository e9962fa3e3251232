package dev.idem.internal.worker;

import dev.idem.Inbox;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.outbox.WorkerSignals;
import dev.idem.internal.queue.GapKeeper;
import dev.idem.internal.unit.InboxContext;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.QueueStore;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The workers of an inbox, and the one who looks after what crashes have left. Thread-safe. */
public final class Workers implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final Duration CARE_EVERY = Duration.ofSeconds(5);
    private static final Duration LAST_WORDS = Duration.ofSeconds(2);

    /** Care of a consumer whose care always fails is tried every so many times. */
    private static final int MOST_SELDOM = 6;

    private final InboxContext context;
    private final QueueStore store;
    private final WorkerSignals signals;
    private final Leases leases;
    private final Duration drain;
    private final @Nullable GapKeeper gaps;
    private final Map<String, WorkerPool> crews = new LinkedHashMap<>();
    private final Map<String, Integer> careless = new HashMap<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread care = new Thread(this::takeCare, "idem-care");
    private final Thread keeper = new Thread(this::keepAlive, "idem-keeper");

    /**
     * The workers of a store.
     *
     * @param drain how long closing waits for handlers that are running
     * @param gaps who sees to gaps, where the store keeps sequences
     */
    public Workers(
            InboxContext context, QueueStore store, WorkerSignals signals, Duration drain, @Nullable GapKeeper gaps) {
        this.context = context;
        this.store = store;
        this.signals = signals;
        this.drain = drain;
        this.gaps = gaps;
        this.leases = new Leases(store);
        care.setDaemon(true);
        keeper.setDaemon(false); // also where it is made by a thread that is one
    }

    /**
     * Whoever starts workers in {@code main} and returns wants a service, as with a listener. Only this thread keeps the process
     * alive, for it hangs in no handler and in no call to a database.
     */
    private void keepAlive() {
        try {
            closed.await();
        } catch (InterruptedException stop) {
            log.debug("Interrupted: the workers do not keep the process alive any more");
        }
    }

    public synchronized void start(ConsumerPlan consumer) {
        if (closed.getCount() == 0) {
            throw new IllegalStateException("The inbox is closed");
        }
        if (crews.containsKey(consumer.name())) {
            throw new IllegalArgumentException("The workers of " + consumer.name() + " are running already");
        }
        store.prepare(consumer.name(), consumer.queue().orElseThrow().workers());
        recoverFirst(consumer.name());
        WorkerSignals.Signal signal = signals.of(consumer.name());
        WorkerPool crew = new WorkerPool(context, store, consumer, signal, leases, gaps);
        try {
            crew.start();
        } catch (Throwable noThread) {
            crew.stop(); // those that did start; the caller may try again
            throw noThread;
        }
        crews.put(consumer.name(), crew);
        if (store instanceof QueueStore.Waking waking) {
            waking.onWake(consumer.name(), () -> signal.ring(1)); // a worker that finds much wakes the next one
        }
        if (care.getState() == Thread.State.NEW) {
            care.start();
            keeper.start();
        }
        QueuePolicy policy = consumer.queue().orElseThrow();
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
        return List.copyOf(crews.keySet());
    }

    private void takeCare() {
        do {
            for (String consumer : names()) {
                takeCareOf(consumer);
            }
        } while (pause(CARE_EVERY));
    }

    /** What fails for one consumer must not keep the others waiting, so it is looked after more seldom. */
    private void takeCareOf(String consumer) {
        int failures = careless.getOrDefault(consumer, 0);
        if (failures > 1 && ThreadLocalRandom.current().nextInt(Math.min(failures, MOST_SELDOM)) > 0) {
            return;
        }
        try {
            if (store.recover(consumer) > 0) {
                signals.of(consumer).ring(1);
            }
            careless.remove(consumer);
        } catch (Throwable failure) { // nothing may end the thread that looks after the rest
            careless.put(consumer, failures + 1);
            if (failures == 0) {
                warn(consumer, failure);
            } else {
                log.debug("{}: its queue could not be looked after", consumer, failure);
            }
        }
    }

    private static void warn(String consumer, Throwable failure) {
        try {
            log.warn(
                    "{}: its queue could not be looked after: what crashes have left in it waits. Tried again",
                    consumer,
                    failure);
        } catch (Throwable silenced) {
            // no memory even for a log line: going on is all that is left
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
            crews.values().forEach(WorkerPool::stop);
        }
        signals.ringAll();
        try {
            join(drain);
            all().forEach(crew -> crew.interrupt(drain));
            join(LAST_WORDS);
            care.join(LAST_WORDS.toMillis());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            all().forEach(crew -> crew.interrupt(Duration.ZERO));
        }
        leases.close();
        Set<Thread> running = running();
        if (!running.isEmpty()) {
            all().forEach(WorkerPool::giveUp);
            context.deadlines().end(running);
        }
    }

    /** Those that did not end: their transactions must not keep messages from other instances. */
    private Set<Thread> running() {
        return all().stream()
                .flatMap(crew -> crew.threads().stream())
                .filter(thread -> thread != Thread.currentThread())
                .collect(Collectors.toSet());
    }

    private synchronized List<WorkerPool> all() {
        return List.copyOf(crews.values());
    }

    private void join(Duration longest) throws InterruptedException {
        long until = System.nanoTime() + longest.toNanos();
        for (Thread thread :
                all().stream().flatMap(crew -> crew.threads().stream()).toList()) {
            long left = (until - System.nanoTime()) / 1_000_000;
            if (thread != Thread.currentThread() && left > 0) {
                thread.join(left);
            }
        }
    }
}
