package dev.idem.internal.queue;

import dev.idem.Failure;
import dev.idem.HandlerTimeoutException;
import dev.idem.Outcome;
import dev.idem.Rejection;
import dev.idem.Route;
import dev.idem.Settlement;
import dev.idem.internal.batch.BatchEntry;
import dev.idem.internal.batch.BatchRun;
import dev.idem.internal.batch.BatchRunner;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.consumer.Order;
import dev.idem.internal.key.Keyed;
import dev.idem.internal.outbox.WorkerSignals;
import dev.idem.internal.unit.Delivery;
import dev.idem.internal.unit.InboxContext;
import dev.idem.queue.LeaseLostException;
import dev.idem.spi.Batch;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueBatch;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import dev.idem.steps.StepMismatchException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Runs the handlers of messages that a worker has taken, by the same path as a batch at the door, and records what became
 * of each: with the others' commit where there is one, else in a transaction of its own. Used once, by one thread.
 *
 * <p>May be given the transaction in which the messages were taken. It is handed on to whoever claims the messages first, and
 * closed here only if nobody does: each transaction has one owner.
 */
public final class QueueRun implements BatchRun.Recording, Rescuable, AutoCloseable {
    private static final long NONE = -1;
    private static final Duration SHORTEST_LEAVE = Duration.ofMillis(100);
    private static final Duration LONGEST_LEAVE = Duration.ofSeconds(30);

    private final InboxContext context;
    private final QueueStore store;
    private final QueueStore.Taking taking;
    private final ConsumerPlan consumer;
    private final boolean leased;
    private final WorkerState state;
    private final QueueDisposition settling;
    private final WorkerSignals.Signal signal;
    private final List<QueueChange> owed;
    private final @Nullable GapKeeper gaps;
    private final Map<MarkerKey, QueuedMessage> messages = new LinkedHashMap<>();
    private final List<BatchEntry<?>> entries = new ArrayList<>();
    private final Map<QueuedMessage, QueueChange> sent = new HashMap<>();
    private final Map<QueuedMessage, QueueChange> durable = new HashMap<>();
    /** Leased and not begun; and of these, those that were given to others meanwhile. */
    private final Set<MarkerKey> waiting = new HashSet<>();

    private final Set<MarkerKey> shared = new HashSet<>();
    private @Nullable QueueBatch opened;

    /** The message whose gap the resolver is asked about. */
    private volatile long gapOf = NONE;

    /**
     * @param owed gets the changes that could not be made, to be made later
     * @param opened the transaction in which the messages were taken, if they were not leased
     */
    public QueueRun(
            InboxContext context,
            QueueStore store,
            QueueStore.Taking taking,
            ConsumerPlan consumer,
            boolean leased,
            WorkerState state,
            WorkerSignals.Signal signal,
            List<QueueChange> owed,
            @Nullable GapKeeper gaps,
            @Nullable QueueBatch opened) {
        this.opened = opened;
        this.signal = signal;
        this.gaps = gaps;
        this.owed = owed;
        this.context = context;
        this.store = store;
        this.taking = taking;
        this.consumer = consumer;
        this.leased = leased;
        this.state = state;
        this.settling = new QueueDisposition(consumer, leased);
    }

    /** In the transaction that was given first, if there is one; others follow. Answers why the store could not, if so. */
    @Nullable
    public Throwable run(List<QueuedMessage> taken) {
        Order order = order();
        for (QueuedMessage message : inVersionOrder(taken)) {
            messages.put(message.key(), message);
            entries.add(entry(message, order));
        }
        List<BatchEntry<?>> claimable =
                entries.stream().filter(BatchEntry::isOpen).toList();
        waitsFor(claimable);
        Throwable outage = claimable.isEmpty()
                ? null
                : new BatchRunner(context, this::claim, this).settle(consumer.policy(), claimable);
        close(); // if nothing of it could run: what is recorded now must not wait for its locks
        if (state.isRetired()) {
            return null; // another thread has recorded what became of them
        }
        entries.forEach(entry -> entry.attempt().tell(context.events(), entry.outcome()));
        if (outage == null) {
            tellUndone();
        }
        recordRest(outage != null);
        release();
        resolveGaps();
        return outage;
    }

    /**
     * What is to be recorded when the thread of this run is stuck, seen from another thread. The transaction is lost, so what
     * was not committed by then is open. Of those that shared a call nobody knows whose fault it is: they count as started,
     * and run alone next time.
     */
    @Override
    public List<QueueChange> rescued(List<MarkerKey> stuck, HandlerTimeoutException cause) {
        List<QueueChange> changes = new ArrayList<>();
        int index = 0;
        for (QueuedMessage message : messages.values()) {
            BatchEntry<?> entry = entries.get(index++);
            if (isShared(message)) {
                continue;
            }
            if (message.id() == gapOf) {
                QueueChange stuckInGap = settling.stuckInGap(message, cause);
                context.events().incidents().parked(consumer, message.message(), stuckInGap.reason(), cause);
                changes.add(stuckInGap);
            } else if (entry.isOpen() && stuck.contains(message.key())) {
                changes.addAll(failed(message, entry, cause, stuck.size() == 1));
            } else if (entry.isOpen()) {
                settling.unused(message).ifPresent(changes::add);
            } else if (!durable.containsKey(message)) {
                settling.change(message, entry).ifPresent(changes::add);
            }
        }
        return changes;
    }

    private <T extends @Nullable Object> List<QueueChange> failed(
            QueuedMessage message, BatchEntry<T> entry, HandlerTimeoutException cause, boolean culprit) {
        Outcome.Failed<T> failed = new Outcome.Failed<>(context.kindOf(cause, entry.attempt()), cause);
        entry.settle(failed);
        entry.attempt().tell(context.events(), failed);
        List<QueueChange> changes = settling.stuck(message, failed, culprit);
        changes.forEach(change -> context.events().incidents().moved(consumer, message, change, failed));
        return changes;
    }

    private synchronized void waitsFor(List<BatchEntry<?>> claimable) {
        claimable.forEach(entry -> waiting.add(entry.key()));
    }

    @Override
    public synchronized boolean begins(List<BatchEntry<?>> neighbours) {
        neighbours.forEach(entry -> waiting.remove(entry.key()));
        return neighbours.stream().noneMatch(entry -> shared.contains(entry.key()));
    }

    @Override
    public synchronized List<QueueChange> share() {
        List<QueueChange> changes = messages.values().stream()
                .filter(message -> waiting.contains(message.key()))
                .flatMap(message -> settling.unused(message).stream())
                .toList();
        shared.addAll(waiting);
        waiting.clear();
        return changes;
    }

    private synchronized boolean isShared(QueuedMessage message) {
        return shared.contains(message.key());
    }

    private Order order() {
        if (consumer.sequence().isPresent()) {
            return Order.byVersion(consumer.sequence().get());
        }
        return consumer.queue().orElseThrow().isOrdered() ? Order.byKeyUntilDone() : Order.none();
    }

    /** What was stored in another order can be applied in one transaction all the same. */
    private List<QueuedMessage> inVersionOrder(List<QueuedMessage> taken) {
        return consumer.sequence()
                .map(sequence -> taken.stream()
                        .sorted(Comparator.comparingLong(queued -> sequence.versionOf(queued.message())))
                        .toList())
                .orElse(taken);
    }

    /** Of what is held again although its deadline was over. No transaction is open any more, so this may take long. */
    private void resolveGaps() {
        if (consumer.sequence().isEmpty()) {
            return; // what is held waits for another of its ordering key
        }
        int index = 0;
        for (QueuedMessage message : messages.values()) {
            BatchEntry<?> entry = entries.get(index++);
            if (entry.outcome() instanceof Outcome.Held<?> held
                    && held.missing().isPresent()
                    && !message.overdue()) {
                context.events()
                        .tell(l -> l.held(
                                consumer.name(), entry.message(), held.missing().getAsLong()));
            }
            if (entry.outcome() instanceof Outcome.Held && message.overdue() && gaps != null && !state.isRetired()) {
                resolveGap(gaps, message);
            }
        }
    }

    private void resolveGap(GapKeeper keeper, QueuedMessage message) {
        keeper.resolve(consumer, message.message(), question -> {
            gapOf = message.id();
            try {
                return context.inTime(List.of(message.key()), consumer.policy().handlerTimeout(), () -> {}, question);
            } finally {
                gapOf = NONE;
            }
        });
    }

    /** Whether all of them are done, so that nothing of this run is left. */
    public boolean isComplete() {
        return entries.stream().allMatch(entry -> entry.outcome() instanceof Outcome.Processed);
    }

    /** What waited behind those that are done can go on; if this fails, a sweep will see to it. */
    private void release() {
        if (!taking.ordered()) {
            return;
        }
        Set<String> orderingKeys = new LinkedHashSet<>();
        for (BatchEntry<?> entry : entries) {
            if (entry.outcome().settlement() == Settlement.ACK) {
                entry.message().orderingKey().ifPresent(orderingKeys::add);
            }
        }
        if (!orderingKeys.isEmpty()) {
            signal.ring(store.release(taking.consumer(), orderingKeys) - 1); // one of them is for this worker
        }
    }

    private BatchEntry<?> entry(QueuedMessage message, Order order) {
        if (message.unreadable() != null) {
            BatchEntry<?> unreadable =
                    new BatchEntry<>(Delivery.without(consumer, message.message()), entries.size(), order);
            unreadable.settle(new Outcome.Rejected<>(Rejection.UNDECODABLE, message.unreadable()));
            return unreadable;
        }
        Keyed.Turned turned = context.sessions().judge(consumer, message, opened != null);
        if (turned != null) { // its session was aborted since it was stored, or the policy has changed
            BatchEntry<?> stopped =
                    new BatchEntry<>(Delivery.without(consumer, message.message()), entries.size(), order);
            stopped.settle(turned.outcome());
            return stopped;
        }
        Route route = consumer.route(message.message()).orElse(null);
        if (route == null) {
            BatchEntry<?> unknown =
                    new BatchEntry<>(Delivery.without(consumer, message.message()), entries.size(), order);
            settleUnknown(message, unknown);
            return unknown;
        }
        BatchEntry<?> entry = new BatchEntry<>(Delivery.of(consumer, message.message(), route), entries.size(), order);
        if (message.halfDone()) {
            entry.fail(Failure.TERMINAL, StepMismatchException.withoutSteps(message.key()));
            return entry;
        }
        entry.claimable(route, new ClaimRequest(message.key(), null, Duration.ZERO, false));
        return entry;
    }

    /** Whoever runs a newer version may know it, so it is left to others first, ever longer. */
    private <T extends @Nullable Object> void settleUnknown(QueuedMessage message, BatchEntry<T> entry) {
        Outcome<T> outcome = consumer.unknownType(message.message());
        Duration age = message.age();
        if (outcome instanceof Outcome.Rejected<T> rejected
                && age.compareTo(consumer.queue().orElseThrow().unknownTypesLeft()) < 0) {
            Duration pause = age.compareTo(SHORTEST_LEAVE) < 0 ? SHORTEST_LEAVE : age;
            entry.leaveToOthers(pause.compareTo(LONGEST_LEAVE) > 0 ? LONGEST_LEAVE : pause, rejected.detail());
        } else {
            entry.settle(outcome);
        }
    }

    private Batch claim(List<BatchEntry<?>> open) {
        if (state.isRetired()) {
            throw new LeaseLostException(open.get(0).key() + " was given to another worker");
        }
        QueueBatch first = handOver();
        return first != null
                ? first
                : store.open(taking, open.stream().map(this::messageOf).toList(), leased);
    }

    private @Nullable QueueBatch handOver() {
        QueueBatch first = opened;
        opened = null;
        return first;
    }

    @Override
    public void close() {
        QueueBatch unclaimed = handOver();
        if (unclaimed != null) {
            unclaimed.close();
        }
    }

    private QueuedMessage messageOf(BatchEntry<?> entry) {
        QueuedMessage message = messages.get(entry.key());
        if (message == null) {
            throw new IllegalArgumentException(entry.key() + " was not taken");
        }
        return message;
    }

    @Override
    public boolean record(Batch batch, List<BatchEntry<?>> granted) {
        sent.clear();
        for (BatchEntry<?> entry : granted) {
            QueuedMessage message = messageOf(entry);
            if (!entry.isOpen() && !isShared(message)) {
                settling.inside(message, entry).ifPresent(change -> {
                    ((QueueBatch) batch).change(change);
                    sent.put(message, change);
                });
            }
        }
        return !sent.isEmpty();
    }

    @Override
    public void committed() {
        durable.putAll(sent);
    }

    private void tellUndone() {
        int index = 0;
        for (QueuedMessage message : messages.values()) {
            context.givenBack().tell(message.key(), entries.get(index++).outcome());
        }
    }

    /** What no commit has taken along. In an outage the leases run out by themselves, or somebody gives them back. */
    private void recordRest(boolean outage) {
        List<QueueChange> rest = new ArrayList<>();
        int index = 0;
        for (QueuedMessage message : messages.values()) {
            BatchEntry<?> entry = entries.get(index++);
            Optional<QueueChange> change = settling.change(message, entry);
            boolean needed = !durable.containsKey(message)
                    && !isShared(message)
                    && !(outage && !leased && settling.isInnocent(entry));
            change.filter(c -> needed).ifPresent(rest::add);
            Optional.ofNullable(durable.get(message))
                    .or(() -> change.filter(c -> needed))
                    .ifPresent(made -> context.events().incidents().moved(consumer, message, made, entry.outcome()));
        }
        if (!rest.isEmpty()) {
            owed.addAll(rest);
            store.change(taking, rest);
            owed.removeAll(rest);
        }
    }
}
