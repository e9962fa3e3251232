package dev.idem;

import dev.idem.spi.QueueBatch;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One worker: takes what is due, handles it, and looks again; waits when there is nothing, and pauses ever longer when the
 * store cannot be reached. A message that may have killed a process runs alone, with its start on record before.
 */
final class QueueWorker implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private static final Duration WORTH_A_LOOK = Duration.ofMillis(40);

    private final Engine engine;
    private final Permits permits;
    private final QueueStore store;
    private final Consumer consumer;
    private final QueuePolicy policy;
    private QueueStore.Taking taking;
    private final Bells.Bell bell;
    private final Leases leases;
    private final Settling crashes;
    private final Breaker breaker;
    private final @Nullable GapKeeper gaps;
    private final List<QueueChange> owed = new ArrayList<>();
    private boolean dirty;
    private volatile boolean stopping;

    QueueWorker(
            Engine engine,
            Permits permits,
            QueueStore store,
            Consumer consumer,
            QueueStore.Taking taking,
            Bells.Bell bell,
            Leases leases,
            Breaker breaker,
            @Nullable GapKeeper gaps) {
        this.engine = engine;
        this.permits = permits;
        this.store = store;
        this.consumer = consumer;
        this.policy = consumer.queue().orElseThrow();
        this.taking = taking;
        this.bell = bell;
        this.leases = leases;
        this.crashes = new Settling(policy, true);
        this.breaker = breaker;
        this.gaps = gaps;
    }

    /** It ends after the batch it is working on. */
    void stop() {
        stopping = true;
    }

    /** An interrupt that a handler has left behind ends nothing. */
    @Override
    public void run() {
        Idle idle = new Idle(policy.poll());
        try {
            while (!stopping) {
                if (Thread.interrupted() && !stopping) {
                    log.debug("{}: a handler has left an interrupt behind", consumer.name());
                }
                try {
                    Found found = turn();
                    if (found != Found.NOTHING) {
                        idle.reset();
                    }
                    if (found != Found.MUCH) {
                        bell.await(shorter(idle.next()));
                    }
                } catch (InterruptedException leftBehind) {
                    if (stopping) {
                        Thread.currentThread().interrupt();
                    }
                }
            }
        } finally {
            leave();
        }
    }

    /** A message that waits for its next attempt must not wait for the poll as well. */
    private Duration shorter(Duration pause) {
        if (pause.compareTo(WORTH_A_LOOK) < 0 || stopping) {
            return pause;
        }
        try {
            return store.nextDue(consumer.name())
                    .filter(due -> due.compareTo(pause) < 0)
                    .orElse(pause);
        } catch (RuntimeException failure) {
            return pause; // the next turn will meet it, and knows what to do
        }
    }

    /** What there was to do, if it could be done. */
    private Found turn() throws InterruptedException {
        breaker.await();
        try {
            permits.acquire("a worker of " + consumer.name());
            try {
                settleOwed();
                Found found = policy.isLeased() ? leasedTurn() : takenTurn();
                breaker.closed();
                return found;
            } finally {
                permits.release();
            }
        } catch (Throwable failure) {
            if (failure instanceof VirtualMachineError) {
                leaveNote(failure);
            }
            if (!stopping) {
                breaker.opened(failure instanceof Outage outage ? outage.failure : failure);
            }
            return Found.NOTHING;
        }
    }

    /**
     * Goes on under another number. The note of what was running stays under the old one and is found by a sweep, which counts
     * the start: a message that exhausts the memory must not end all workers, one after the other, for ever.
     */
    private void leaveNote(Throwable failure) {
        log.error("{}: a handler, or this worker, met {}", consumer.name(), failure.toString());
        taking = taking.by(ThreadLocalRandom.current().nextLong());
        dirty = false;
    }

    /** Whatever an earlier turn could not say. A note of messages that did not run to their end would look like a crash. */
    private void settleOwed() {
        if (dirty) {
            store.running(taking, List.of());
            dirty = false;
        }
        if (!owed.isEmpty()) {
            store.change(taking, List.copyOf(owed));
            owed.clear();
        }
    }

    private Found takenTurn() throws Outage {
        int most = Math.min(policy.batch(), engine.isolation().limit(consumer.name()));
        Optional<QueueBatch> taken = store.take(taking.limitedTo(most));
        if (taken.isEmpty()) {
            return Found.NOTHING;
        }
        try (QueueBatch batch = taken.get()) {
            Found found = found(batch.messages(), most);
            QueuedMessage first = batch.messages().get(0);
            if (!first.isSuspect()) {
                store.running(taking, batch.messages());
                dirty = true;
                QueueRun run = newRun(false);
                check(run.run(batch));
                dirty = !run.isComplete();
                return dirty ? Found.MUCH : found;
            }
            batch.close();
            return suspectTurn(first);
        }
    }

    /**
     * Where as many were found as were asked for there are probably more, so the next worker is woken: who woke this one may
     * not know how many there are.
     */
    private Found found(List<QueuedMessage> messages, int most) {
        if (messages.size() >= most) {
            bell.ring(1);
        }
        return messages.isEmpty()
                ? Found.NOTHING
                : messages.size() >= most
                                || policy.isOrdered()
                                || consumer.sequence().isPresent()
                        ? Found.MUCH
                        : Found.SOME;
    }

    /** Leases one message, so that its start is on record. */
    private Found suspectTurn(QueuedMessage message) throws Outage {
        if (crashes.isDeadly(message)) {
            store.change(taking, List.of(crashes.deadly(message)));
            log.error("{}: parked, for it seems to end the processes that handle it", message.key());
            return Found.MUCH;
        }
        Optional<QueuedMessage> alone = store.lease(taking, message, policy.suspectLease());
        if (alone.isPresent()) {
            handleLeased(List.of(alone.get()), policy.suspectLease());
        }
        return alone.isPresent() ? Found.MUCH : Found.NOTHING;
    }

    private Found leasedTurn() throws Outage {
        List<QueuedMessage> leased = store.lease(taking.limitedTo(policy.batch()), policy.lease());
        Found found = found(leased, policy.batch());
        if (leased.size() == 1 && crashes.isDeadlyNow(leased.get(0))) {
            store.change(taking, List.of(crashes.deadly(leased.get(0))));
            log.error(
                    "{}: parked, for it seems to end the processes that handle it",
                    leased.get(0).key());
        } else if (!leased.isEmpty()) {
            handleLeased(leased, policy.lease());
        }
        return owed.isEmpty() ? found : Found.MUCH;
    }

    private void handleLeased(List<QueuedMessage> leased, Duration lease) throws Outage {
        try (Leases.Kept kept = leases.keep(taking, leased, lease)) {
            if (consumer.hasSteps()) {
                check(new StepTurn(engine, store, taking, consumer, bell, owed, () -> stopping)
                        .run(leased, rest -> newRun(true).run(rest)));
            } else {
                check(newRun(true).run(leased));
            }
        }
    }

    private QueueRun newRun(boolean leased) {
        return new QueueRun(engine, store, taking, consumer, leased, bell, owed, gaps);
    }

    private static void check(@Nullable Throwable outage) throws Outage {
        if (outage != null) {
            throw new Outage(outage);
        }
    }

    private void leave() {
        boolean interrupted = Thread.interrupted(); // some databases lose their files to an interrupt
        try {
            settleOwed();
            store.gone(taking);
        } catch (RuntimeException failure) {
            log.debug("{}: a worker could not say good-bye; a sweep will notice", consumer.name(), failure);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** What a look has found. */
    private enum Found {
        NOTHING,
        /** And most likely all there was: what comes later rings. */
        SOME,
        /** There may be more, or something is still to be said: another turn at once. */
        MUCH
    }

    /** The store could not go on. */
    private static final class Outage extends Exception {
        private static final long serialVersionUID = 1L;
        private final transient Throwable failure;

        private Outage(Throwable failure) {
            super(failure);
            this.failure = failure;
        }
    }
}
