package dev.idem.internal.worker;

import dev.idem.HandlerTimeoutException;
import dev.idem.Inbox;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.outbox.WorkerSignals;
import dev.idem.internal.queue.QueueDisposition;
import dev.idem.internal.queue.QueueRun;
import dev.idem.internal.queue.Rescuable;
import dev.idem.internal.queue.WorkerState;
import dev.idem.internal.steps.StepTurn;
import dev.idem.internal.thread.Idle;
import dev.idem.internal.thread.Threads;
import dev.idem.internal.unit.InboxContext;
import dev.idem.internal.unit.Rescue;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueBatch;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One worker: takes what is due, handles it, and looks again; waits when there is nothing, and pauses ever longer when the
 * store cannot be reached. A message that may have killed a process runs alone, with its start on record before.
 */
final class QueueWorker implements Runnable, Rescue {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private static final Duration WORTH_A_LOOK = Duration.ofMillis(40);

    private final WorkerPool crew;
    private final InboxContext context;
    private final QueueStore store;
    private final ConsumerPlan consumer;
    private final QueuePolicy policy;
    private final WorkerSignals.Signal signal;
    private final QueueDisposition crashes;
    private final WorkerState state = new WorkerState();
    private final AtomicBoolean permitted = new AtomicBoolean();
    private final List<QueueChange> owed = new ArrayList<>();
    private volatile QueueStore.Taking taking;
    private volatile @Nullable Rescuable current;
    private volatile Leases.@Nullable Kept kept;
    private boolean dirty;
    /** About the sessions of messages that were taken, and given back for that. */
    private boolean asked;

    QueueWorker(WorkerPool crew, QueueStore.Taking taking) {
        this.crew = crew;
        this.context = crew.contextFor(this);
        this.store = crew.store();
        this.consumer = crew.consumer();
        this.policy = consumer.queue().orElseThrow();
        this.taking = taking;
        this.signal = crew.signal();
        this.crashes = new QueueDisposition(consumer, true);
    }

    /** It ends after the batch it is working on. */
    void stop() {
        state.stop();
    }

    @Override
    public boolean goesOn() {
        return state.goesOn();
    }

    @Override
    public boolean retire() {
        return state.retire();
    }

    /** On another thread than this worker's, which does nothing more from now on. */
    @Override
    public void replace(List<MarkerKey> keys, HandlerTimeoutException cause, Runnable free) {
        Leases.Kept leased = kept;
        if (leased != null) {
            leased.close();
        }
        endPermit();
        context.suspects().end(this);
        new StuckTurn(crew, taking, current, owed).end(this, keys, cause, free);
    }

    private void endPermit() {
        if (permitted.compareAndSet(true, false)) {
            crew.permits().release();
        }
    }

    /** An interrupt that a handler has left behind ends nothing. */
    @Override
    public void run() {
        Idle idle = new Idle(policy.poll());
        try {
            while (state.goesOn()) {
                if (Thread.interrupted() && state.goesOn()) {
                    log.debug("{}: a handler has left an interrupt behind", consumer.name());
                }
                try {
                    Found found = turn();
                    if (found != Found.NOTHING) {
                        idle.reset();
                    }
                    if (found != Found.MUCH) {
                        signal.await(shorter(idle.next()));
                    }
                } catch (InterruptedException leftBehind) {
                    if (!state.goesOn()) {
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
        if (pause.compareTo(WORTH_A_LOOK) < 0 || !state.goesOn()) {
            return pause;
        }
        try {
            return store.nextDue(consumer.name())
                    .filter(due -> due.compareTo(pause) < 0)
                    .orElse(pause);
        } catch (Throwable failure) {
            return pause; // the next turn will meet it, and knows what to do
        }
    }

    /** What there was to do, if it could be done. */
    private Found turn() throws InterruptedException {
        crew.breaker().await();
        try {
            crew.permits().acquire("a worker of " + consumer.name());
            permitted.set(true);
            try {
                settleOwed();
                Found found = policy.isLeased() ? leasedTurn() : takenTurn();
                crew.breaker().answered(found != Found.NOTHING);
                return found;
            } finally {
                endPermit();
            }
        } catch (Throwable failure) {
            if (failure instanceof Error) {
                leaveNote(failure);
            }
            if (state.goesOn()) {
                crew.breaker().opened(failure instanceof Outage outage ? outage.failure : failure);
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
        int most = Math.min(policy.batch(), context.isolation().limit(consumer.name()));
        Optional<QueueBatch> taken = store.take(taking.limitedTo(most));
        if (taken.isEmpty()) {
            return Found.NOTHING;
        }
        List<QueuedMessage> messages = taken.get().messages();
        if (!context.sessions().know(messages, asked)) {
            taken.get().close();
            context.sessions().ask(messages);
            asked = true;
            return Found.MUCH;
        }
        asked = false;
        QueuedMessage first = messages.get(0);
        try (QueueRun run = newRun(taken.get())) {
            Found found = found(messages, most);
            if (!first.isSuspect()) {
                store.running(taking, messages);
                dirty = true;
                check(run.run(messages));
                dirty = !run.isComplete();
                return dirty ? Found.MUCH : found;
            }
        }
        return suspectTurn(first);
    }

    /**
     * Where as many were found as were asked for there are probably more, so the next worker is woken: who woke this one may
     * not know how many there are.
     */
    private Found found(List<QueuedMessage> messages, int most) {
        if (messages.size() >= most) {
            signal.ring(1);
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
            parkDeadly(message);
            return Found.MUCH;
        }
        if (!context.suspects().begin(this)) {
            return putOff(message);
        }
        try {
            Optional<QueuedMessage> alone = store.lease(taking, message, policy.suspectLease());
            if (alone.isPresent()) {
                handleLeased(List.of(alone.get()), policy.suspectLease());
            }
            return alone.isPresent() ? Found.MUCH : Found.NOTHING;
        } finally {
            context.suspects().end(this);
        }
    }

    private void parkDeadly(QueuedMessage message) {
        QueueChange parked = crashes.deadly(message);
        store.change(taking, List.of(parked));
        context.events().incidents().deadly(consumer, message, parked);
    }

    /** Another one is running, in this process; what comes behind need not wait. */
    private Found putOff(QueuedMessage suspect) {
        store.change(taking, List.of(crashes.putOff(suspect, context.suspects().pause())));
        return Found.MUCH;
    }

    private Found leasedTurn() throws Outage {
        int most = Math.min(policy.batch(), crew.leaseSize().get());
        List<QueuedMessage> leased = store.lease(taking.limitedTo(most), policy.lease());
        Found found = found(leased, most);
        if (leased.size() == 1 && crashes.isDeadlyNow(leased.get(0))) {
            parkDeadly(leased.get(0));
        } else if (leased.size() == 1 && wasSuspect(leased.get(0))) {
            return suspectLeased(leased.get(0));
        } else if (!leased.isEmpty()) {
            long start = System.nanoTime();
            handleLeased(leased, policy.lease());
            crew.leaseSize().took(leased.size(), System.nanoTime() - start);
        }
        return owed.isEmpty() ? found : Found.MUCH;
    }

    /** Before this lease, which counts as a start. */
    private static boolean wasSuspect(QueuedMessage leased) {
        return leased.started() - 1 > leased.failed();
    }

    private Found suspectLeased(QueuedMessage suspect) throws Outage {
        if (!context.suspects().begin(this)) {
            return putOff(suspect);
        }
        try {
            handleLeased(List.of(suspect), policy.lease());
        } finally {
            context.suspects().end(this);
        }
        return Found.MUCH;
    }

    private void handleLeased(List<QueuedMessage> leased, Duration lease) throws Outage {
        try (Leases.Kept renewed = crew.leases().keep(taking, leased, lease, this::share)) {
            kept = renewed;
            if (consumer.hasSteps()) {
                StepTurn turn = new StepTurn(context, store, taking, consumer, signal, owed, state);
                current = turn;
                check(turn.run(leased, rest -> {
                    QueueRun run = newRun(null);
                    turn.beside(run);
                    current = turn;
                    return run.run(rest);
                }));
            } else {
                check(newRun(null).run(leased));
            }
        }
    }

    /** On another thread: what this worker has leased and not begun is given back, for it takes long. */
    private void share() {
        Rescuable slow = current;
        List<QueueChange> changes = slow == null || state.isRetired() ? List.of() : slow.share();
        if (!changes.isEmpty()) {
            crew.leaseSize().isSlow();
            Threads.untilDone(
                    log,
                    consumer.name() + ": messages could not be given back; tried again",
                    crew::goesOn,
                    () -> store.change(taking, changes));
            signal.ring(changes.size());
        }
    }

    /** @param taken the transaction in which the messages were taken; null when they are leased */
    private QueueRun newRun(@Nullable QueueBatch taken) {
        QueueRun run =
                new QueueRun(context, store, taking, consumer, taken == null, state, signal, owed, crew.gaps(), taken);
        current = run;
        return run;
    }

    private static void check(@Nullable Throwable outage) throws Outage {
        if (outage != null) {
            throw new Outage(outage);
        }
    }

    private void leave() {
        if (state.isRetired()) {
            crew.cameBack();
            return;
        }
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
