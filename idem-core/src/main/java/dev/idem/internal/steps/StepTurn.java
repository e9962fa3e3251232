package dev.idem.internal.steps;

import dev.idem.HandlerTimeoutException;
import dev.idem.Outcome;
import dev.idem.Route;
import dev.idem.Settlement;
import dev.idem.StoreException;
import dev.idem.internal.batch.BatchEntry;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.consumer.Order;
import dev.idem.internal.consumer.Undecodable;
import dev.idem.internal.key.Keyed;
import dev.idem.internal.outbox.WorkerSignals;
import dev.idem.internal.queue.QueueDisposition;
import dev.idem.internal.queue.Rescuable;
import dev.idem.internal.queue.WorkerState;
import dev.idem.internal.unit.Delivery;
import dev.idem.internal.unit.InboxContext;
import dev.idem.queue.LeaseLostException;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import dev.idem.spi.StepStore;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Handles leased messages of which some go step by step: these one after the other, the others together. Used once. */
public final class StepTurn implements Rescuable {
    private final InboxContext context;
    private final StepStore store;
    private final QueueStore.Taking taking;
    private final ConsumerPlan consumer;
    private final WorkerSignals.Signal signal;
    private final List<QueueChange> owed;
    private final WorkerState state;
    private final QueueDisposition settling;
    private final Deque<QueuedMessage> stepwise = new ArrayDeque<>();
    private volatile @Nullable QueuedMessage running;
    private volatile @Nullable StepRun steps;
    private volatile @Nullable Rescuable others;

    /** @param owed gets the changes that could not be made, to be made later */
    public StepTurn(
            InboxContext context,
            QueueStore store,
            QueueStore.Taking taking,
            ConsumerPlan consumer,
            WorkerSignals.Signal signal,
            List<QueueChange> owed,
            WorkerState state) {
        this.context = context;
        this.store = (StepStore) store; // who has none was refused when its workers were started
        this.taking = taking;
        this.consumer = consumer;
        this.signal = signal;
        this.owed = owed;
        this.state = state;
        this.settling = new QueueDisposition(consumer, true);
    }

    /** What handles messages without steps; answers why the store could not, if it could not. */
    @FunctionalInterface
    public interface Others {
        @Nullable
        Throwable run(List<QueuedMessage> messages);
    }

    /** Answers why the store could not, if it could not. What was not begun by then is given back. */
    @Nullable
    public Throwable run(List<QueuedMessage> leased, Others others) {
        List<QueuedMessage> rest = new ArrayList<>();
        leased.forEach(message -> (route(message) == null ? rest : stepwise).add(message));
        try {
            @Nullable Throwable outage = rest.isEmpty() ? null : others.run(rest);
            @Nullable QueuedMessage next;
            while (outage == null && (next = next()) != null) {
                outage = handle(next);
            }
            return outage;
        } finally {
            if (!state.isRetired()) {
                owed.addAll(unused());
            }
        }
    }

    /** An interrupt that a handler has left behind is for no other message. */
    private synchronized @Nullable QueuedMessage next() {
        boolean leftBehind = Thread.interrupted();
        if (!state.goesOn()) {
            if (leftBehind) {
                Thread.currentThread().interrupt(); // a request to stop
            }
            return null;
        }
        return stepwise.poll();
    }

    @Override
    public synchronized List<QueueChange> share() {
        List<QueueChange> changes = new ArrayList<>(unused());
        stepwise.clear();
        Rescuable before = others;
        if (before != null) {
            changes.addAll(before.share());
        }
        return changes;
    }

    @Override
    public void writeUnknown() {
        StepRun run = steps;
        if (run != null) {
            run.writeUnknown();
        }
    }

    /** What handles the messages without steps, which come first. */
    public void beside(Rescuable run) {
        others = run;
    }

    private synchronized List<QueueChange> unused() {
        return stepwise.stream()
                .flatMap(message -> settling.unused(message).stream())
                .toList();
    }

    /** An effect whose call does not return has its intent on record, and so is unknown to whoever comes next. */
    @Override
    public List<QueueChange> rescued(List<MarkerKey> stuck, HandlerTimeoutException cause) {
        List<QueueChange> changes = new ArrayList<>(unused());
        QueuedMessage message = running;
        Rescuable before = others;
        if (message == null && before != null) {
            changes.addAll(before.rescued(stuck, cause));
        }
        if (message != null) {
            BatchEntry<?> entry = entry(message);
            Outcome.Failed<?> failed = new Outcome.Failed<>(context.kindOf(cause, entry.attempt()), cause);
            report(entry, failed);
            List<QueueChange> recorded = settling.stuck(message, failed, true);
            recorded.forEach(change -> context.events().incidents().moved(consumer, message, change, failed));
            changes.addAll(recorded);
        }
        return changes;
    }

    private void report(BatchEntry<?> entry, Outcome.Failed<?> failed) {
        entry.fail(failed.kind(), failed.cause());
        entry.attempt().tell(context.events(), entry.outcome());
    }

    private BatchEntry<?> entry(QueuedMessage message) {
        return new BatchEntry<>(Delivery.without(consumer, message.message()), 0, Order.none());
    }

    private Route.@Nullable Stepwise<?> route(QueuedMessage message) {
        return message.unreadable() == null
                        && consumer.route(message.message()).orElse(null) instanceof Route.Stepwise<?> stepwise
                ? stepwise
                : null;
    }

    private @Nullable Throwable handle(QueuedMessage message) {
        BatchEntry<?> entry = entry(message);
        running = message;
        long start = System.nanoTime();
        @Nullable Throwable outage = null;
        @Nullable StepRun run = null;
        try {
            Keyed.Turned turned = context.sessions().judge(consumer, message, false);
            if (turned != null) { // its session was aborted since it was stored, or the policy has changed
                entry.settle(turned.outcome());
            } else {
                run = run(message);
                steps = run;
                done(run, message, entry);
            }
        } catch (LeaseLostException lost) {
            entry.settle(new Outcome.Busy<>());
        } catch (Undecodable undecodable) {
            entry.settle(undecodable.outcome());
        } catch (Throwable failure) {
            boolean handlers = run != null && run.isOfHandler(failure) && state.goesOn();
            entry.fail(
                    handlers || (run != null && run.isUnrecorded())
                            ? consumer.policy().classify(failure)
                            : context.kindOf(failure, entry.attempt()),
                    failure);
            outage = !handlers && failure instanceof StoreException ? failure : null;
        }
        if (state.isRetired()) {
            return null; // another thread has recorded what became of it
        }
        running = null;
        steps = null;
        entry.attempt().ranTogether(System.nanoTime() - start);
        entry.attempt().tell(context.events(), entry.outcome());
        context.givenBack().tell(message.key(), entry.outcome());
        record(message, entry);
        return outage;
    }

    private StepRun run(QueuedMessage message) {
        return new StepRun(context, store, taking, message, consumer, Objects.requireNonNull(route(message)));
    }

    @SuppressWarnings("NullAway") // a handler with steps has no result
    private <T extends @Nullable Object> void done(StepRun run, QueuedMessage message, BatchEntry<T> entry)
            throws Exception {
        run.run(Objects.requireNonNull(route(message)));
        entry.settle(new Outcome.Processed<>(null));
    }

    private void record(QueuedMessage message, BatchEntry<?> entry) {
        boolean interrupted = Thread.interrupted(); // some databases lose their files to it
        try {
            settling.change(message, entry).ifPresent(change -> {
                context.events().incidents().moved(consumer, message, change, entry.outcome());
                owed.add(change);
                store.change(taking, List.of(change));
                owed.remove(change);
            });
            if (taking.ordered() && entry.outcome().settlement() == Settlement.ACK) {
                message.message()
                        .orderingKey()
                        .ifPresent(key -> signal.ring(store.release(taking.consumer(), Set.of(key)) - 1));
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
