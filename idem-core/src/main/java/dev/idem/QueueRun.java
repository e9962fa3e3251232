package dev.idem;

import dev.idem.spi.Batch;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueBatch;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
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
 */
final class QueueRun implements BatchRun.Recording {
    private final Engine engine;
    private final QueueStore store;
    private final QueueStore.Taking taking;
    private final Consumer consumer;
    private final boolean leased;
    private final Settling settling;
    private final Bells.Bell bell;
    private final List<QueueChange> owed;
    private final @Nullable GapKeeper gaps;
    private final Map<MarkerKey, QueuedMessage> messages = new LinkedHashMap<>();
    private final List<BatchEntry<?>> entries = new ArrayList<>();
    private final Map<QueuedMessage, QueueChange> sent = new HashMap<>();
    private final Map<QueuedMessage, QueueChange> durable = new HashMap<>();
    private @Nullable QueueBatch opened;

    /** @param owed gets the changes that could not be made, to be made later */
    QueueRun(
            Engine engine,
            QueueStore store,
            QueueStore.Taking taking,
            Consumer consumer,
            boolean leased,
            Bells.Bell bell,
            List<QueueChange> owed,
            @Nullable GapKeeper gaps) {
        this.bell = bell;
        this.gaps = gaps;
        this.owed = owed;
        this.engine = engine;
        this.store = store;
        this.taking = taking;
        this.consumer = consumer;
        this.leased = leased;
        this.settling = new Settling(consumer.queue().orElseThrow(), leased);
    }

    /** Handles messages in the transaction in which they were taken; others follow if that one does not suffice. */
    @Nullable
    Throwable run(QueueBatch batch) {
        opened = batch;
        try (batch) {
            return run(batch.messages());
        }
    }

    /** Answers why the store could not, if it could not. */
    @Nullable
    Throwable run(List<QueuedMessage> taken) {
        Order order = order();
        for (QueuedMessage message : inVersionOrder(taken)) {
            messages.put(message.key(), message);
            entries.add(entry(message, order));
        }
        List<BatchEntry<?>> claimable =
                entries.stream().filter(BatchEntry::isOpen).toList();
        Throwable outage = claimable.isEmpty()
                ? null
                : new BatchRunner(engine, this::claim, this).settle(consumer.policy(), claimable);
        if (opened != null) {
            opened.close(); // nothing of it could run, and what is recorded now must not wait for its locks
        }
        entries.forEach(entry -> entry.attempt().report(engine.events(), entry.outcome()));
        recordRest(outage != null);
        release();
        resolveGaps();
        return outage;
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
        int index = 0;
        for (QueuedMessage message : messages.values()) {
            BatchEntry<?> entry = entries.get(index++);
            if (entry.outcome() instanceof Outcome.Held<?> held
                    && held.missing().isPresent()
                    && !message.overdue()) {
                engine.events()
                        .tell(l -> l.held(
                                consumer.name(), entry.message(), held.missing().getAsLong()));
            }
            if (entry.outcome() instanceof Outcome.Held && message.overdue() && gaps != null) {
                gaps.resolve(consumer, message.message());
            }
        }
    }

    /** Whether all of them are done, so that nothing of this run is left. */
    boolean isComplete() {
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
            bell.ring(store.release(taking.consumer(), orderingKeys) - 1); // one of them is for this worker
        }
    }

    private BatchEntry<?> entry(QueuedMessage message, Order order) {
        if (message.unreadable() != null) {
            BatchEntry<?> unreadable =
                    new BatchEntry<>(Attempt.without(consumer, message.message()), entries.size(), order);
            unreadable.settle(new Outcome.Rejected<>(Rejection.UNDECODABLE, message.unreadable()));
            return unreadable;
        }
        Keyed.Turned turned = engine.sessions().judge(consumer, message);
        if (turned != null) { // its session was aborted since it was stored, or the policy has changed
            BatchEntry<?> stopped =
                    new BatchEntry<>(Attempt.without(consumer, message.message()), entries.size(), order);
            stopped.settle(turned.outcome());
            return stopped;
        }
        Route route = consumer.route(message.message()).orElse(null);
        if (route == null) {
            BatchEntry<?> unknown =
                    new BatchEntry<>(Attempt.without(consumer, message.message()), entries.size(), order);
            unknown.settle(consumer.unknownType(message.message()));
            return unknown;
        }
        BatchEntry<?> entry = new BatchEntry<>(Attempt.of(consumer, message.message(), route), entries.size(), order);
        entry.claimable(route, new ClaimRequest(message.key(), null, Duration.ZERO, false));
        return entry;
    }

    private Batch claim(List<BatchEntry<?>> open) {
        QueueBatch first = opened;
        opened = null;
        return first != null
                ? first
                : store.open(taking, open.stream().map(this::messageOf).toList(), leased);
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
            if (!entry.isOpen()) {
                QueuedMessage message = messageOf(entry);
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

    /** What no commit has taken along. In an outage the leases run out by themselves, or somebody gives them back. */
    private void recordRest(boolean outage) {
        List<QueueChange> rest = new ArrayList<>();
        int index = 0;
        for (QueuedMessage message : messages.values()) {
            BatchEntry<?> entry = entries.get(index++);
            Optional<QueueChange> change = settling.change(message, entry);
            boolean needed = !durable.containsKey(message) && !(outage && !leased && settling.isInnocent(entry));
            change.filter(c -> needed).ifPresent(rest::add);
        }
        if (!rest.isEmpty()) {
            owed.addAll(rest);
            store.change(taking, rest);
            owed.removeAll(rest);
        }
    }
}
