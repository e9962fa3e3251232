package dev.idem.internal.worker;

import dev.idem.Inbox;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.event.Breaker;
import dev.idem.internal.outbox.WorkerSignals;
import dev.idem.internal.queue.GapKeeper;
import dev.idem.internal.thread.Permits;
import dev.idem.internal.thread.Threads;
import dev.idem.internal.unit.BatchSizeLimit;
import dev.idem.internal.unit.InboxContext;
import dev.idem.internal.unit.Rescue;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.QueueStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers of one consumer. One whose thread is stuck in a handler is replaced, up to a bound: threads that never come
 * back are never ended either. Thread-safe.
 */
final class WorkerPool {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final int FEWEST_STUCK = 4;

    private final InboxContext context;
    private final QueueStore store;
    private final ConsumerPlan consumer;
    private final QueuePolicy policy;
    private final WorkerSignals.Signal signal;
    private final Leases leases;
    private final @Nullable GapKeeper gaps;
    private final Breaker breaker;
    private final BatchSizeLimit isolation = new BatchSizeLimit();
    private final LeaseSize leaseSize;
    private final List<QueueWorker> workers = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final int mostStuck;
    private int stuck;
    private int hired;
    private boolean stopped;

    WorkerPool(
            InboxContext context,
            QueueStore store,
            ConsumerPlan consumer,
            WorkerSignals.Signal signal,
            Leases leases,
            @Nullable GapKeeper gaps) {
        this.context = context;
        this.store = store;
        this.consumer = consumer;
        this.policy = consumer.queue().orElseThrow();
        this.signal = signal;
        this.leases = leases;
        this.gaps = gaps;
        this.breaker = new Breaker(consumer.name(), context.events());
        this.leaseSize = new LeaseSize(policy.batch());
        this.mostStuck = Math.max(FEWEST_STUCK, policy.workers());
    }

    synchronized void start() {
        fill();
    }

    /** As many as are wanted; fewer when more threads are stuck than are replaced. Throws when a thread cannot be started. */
    private void fill() {
        int wanted = policy.workers() - Math.max(0, stuck - mostStuck);
        while (!stopped && workers.size() < wanted) {
            hire();
        }
    }

    private void hire() {
        int number = hired++;
        QueueStore.Taking taking = new QueueStore.Taking(
                consumer.name(),
                ThreadLocalRandom.current().nextLong(),
                "pid " + ProcessHandle.current().pid() + "/" + consumer.name() + "-" + number,
                policy.batch(),
                policy.isOrdered(),
                policy.payloadWindow(),
                policy.isOrdered() && policy.whenParked() == QueuePolicy.WhenParked.PARK);
        QueueWorker worker = new QueueWorker(this, taking);
        threads.add(Threads.start("idem-" + consumer.name() + "-" + number, policy.virtualThreads(), worker));
        workers.add(worker);
    }

    /** Another one takes the place of a worker that is stuck. Safe to repeat. */
    synchronized void replace(QueueWorker lost) {
        if (workers.remove(lost)) {
            stuck++;
            if (stuck > mostStuck && !stopped) {
                log.error(
                        "{}: {} threads are stuck in handlers that ignore their timeout; no more are replaced until some come"
                                + " back, and {} workers are left. Mend the handler, and restart the process if they do not",
                        consumer.name(),
                        stuck,
                        workers.size());
            }
        }
        fill();
    }

    /** A thread that was given up has come back after all, and ends; so another one may begin. */
    void cameBack() {
        log.info("{}: a thread came back that had been given up", consumer.name());
        synchronized (this) {
            stuck--;
        }
        Threads.untilDone(
                log, consumer.name() + ": a worker could not be started; tried again", this::goesOn, this::whole);
    }

    private synchronized void whole() {
        fill();
    }

    synchronized boolean goesOn() {
        return !stopped;
    }

    synchronized void stop() {
        stopped = true;
        workers.forEach(QueueWorker::stop);
        breaker.stop();
    }

    /** Those that did not end when they were stopped record nothing more: it is not for what they did that they are late. */
    synchronized void giveUp() {
        workers.forEach(QueueWorker::retire);
    }

    synchronized List<Thread> threads() {
        threads.removeIf(thread -> !thread.isAlive());
        return List.copyOf(threads);
    }

    /** Interrupts what is still running. */
    void interrupt(Duration after) {
        for (Thread thread : threads()) {
            log.warn("{} did not end within {}; interrupted", thread.getName(), after);
            thread.interrupt();
        }
    }

    InboxContext contextFor(Rescue worker) {
        return context.forWorker(isolation, worker);
    }

    Permits permits() {
        return context.permits();
    }

    QueueStore store() {
        return store;
    }

    ConsumerPlan consumer() {
        return consumer;
    }

    WorkerSignals.Signal signal() {
        return signal;
    }

    Leases leases() {
        return leases;
    }

    LeaseSize leaseSize() {
        return leaseSize;
    }

    Breaker breaker() {
        return breaker;
    }

    @Nullable
    GapKeeper gaps() {
        return gaps;
    }
}
