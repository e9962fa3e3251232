package dev.idem.internal.queue;

import dev.idem.Failure;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Rejection;
import dev.idem.StoreException;
import dev.idem.internal.batch.BatchProcessor;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.event.Events;
import dev.idem.internal.key.Placement;
import dev.idem.internal.outbox.WorkerSignals;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueStore;
import dev.idem.spi.StreamVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The door of consumers that acknowledge on receipt. Storing a message is work like any other: it is done exactly once,
 * in the transaction of the message's marker, by the same path as an effect. So whatever has a marker has its message in
 * the queue, or is done, and a duplicate may be acknowledged.
 */
public final class QueueReceiver {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final Duration FULLNESS_IS_FRESH = Duration.ofMillis(250);

    private final QueueStore store;
    private final BatchProcessor batches;
    private final Events events;
    private final WorkerSignals signals;
    private final ConcurrentMap<String, QueueLimit> fullness = new ConcurrentHashMap<>();

    public QueueReceiver(QueueStore store, BatchProcessor batches, Events events, WorkerSignals signals) {
        this.store = store;
        this.batches = batches;
        this.events = events;
        this.signals = signals;
    }

    public List<Outcome<?>> acceptAll(ConsumerPlan consumer, List<Message> messages) {
        QueuePolicy policy = consumer.queue().orElseThrow();
        List<Message> fitting = new ArrayList<>(messages.size());
        @Nullable Outcome<?>[] outcomes = new @Nullable Outcome<?>[messages.size()];
        @Nullable Outcome<?> full = full(consumer, policy);
        for (int i = 0; i < outcomes.length; i++) {
            outcomes[i] = full != null ? full : tooLarge(policy, messages.get(i));
            if (outcomes[i] == null) {
                fitting.add(messages.get(i));
            } else {
                events.answered(consumer, messages.get(i), outcomes[i]);
            }
        }
        List<Outcome<?>> received = store(consumer, policy, fitting);
        int next = 0;
        for (int i = 0; i < outcomes.length; i++) {
            outcomes[i] = outcomes[i] != null ? outcomes[i] : received.get(next++);
        }
        return List.of(outcomes);
    }

    private List<Outcome<?>> store(ConsumerPlan consumer, QueuePolicy policy, List<Message> messages) {
        if (messages.isEmpty()) {
            return List.of();
        }
        QueueStore.Intake intake = intake(consumer, policy);
        ConsumerPlan door = consumer.receivedBy((rows, tx) -> store.enqueue(tx.connection(), intake, rows));
        List<Outcome<?>> outcomes = batches.acceptAll(door, messages);
        afterwards(consumer, policy, messages, outcomes);
        return outcomes;
    }

    /** Storing it as parked is work like storing it; no worker need be told. */
    public Outcome<?> park(ConsumerPlan consumer, Message message, String reason, @Nullable Throwable cause) {
        QueuePolicy policy = consumer.queue().orElseThrow();
        Outcome<?> tooLarge = tooLarge(policy, message);
        if (tooLarge != null) {
            events.incidents().settled(consumer, message, tooLarge);
            return tooLarge;
        }
        QueueChange.FailedRun run = new QueueDisposition(consumer, false).ofDelivery(reason, cause);
        ConsumerPlan door = consumer.receivedBy(
                (rows, tx) -> store.park(tx.connection(), intake(consumer, policy), rows, reason, run));
        Outcome<?> kept = batches.acceptAll(door, List.of(message)).get(0);
        if (kept instanceof Outcome.Stored) {
            events.incidents().parked(consumer, message, reason, cause);
        }
        return kept;
    }

    private static QueueStore.Intake intake(ConsumerPlan consumer, QueuePolicy policy) {
        return new QueueStore.Intake(
                consumer.name(),
                message -> consumer.keyOf(message).orElseThrow(),
                policy.isOrdered(),
                message -> placeOf(consumer, message));
    }

    private static Optional<StreamVersion> placeOf(ConsumerPlan consumer, Message message) {
        return consumer.sequence()
                .map(sequence -> sequence.place(message) instanceof Placement.At at ? at.place() : null);
    }

    /** Nothing of this decides about a message: what fails here is made good by a sweep, or was only a count. */
    private void afterwards(
            ConsumerPlan consumer, QueuePolicy policy, List<Message> messages, List<Outcome<?>> outcomes) {
        Set<String> orderingKeys = new LinkedHashSet<>();
        int stored = 0;
        for (int i = 0; i < outcomes.size(); i++) {
            Message message = messages.get(i);
            if (outcomes.get(i) instanceof Outcome.Stored) {
                stored++;
                message.orderingKey().ifPresent(orderingKeys::add);
            }
        }
        try {
            if (policy.isOrdered() && !orderingKeys.isEmpty()) {
                store.release(consumer.name(), orderingKeys);
            }
        } catch (RuntimeException failure) {
            log.debug("{}: the look after storing failed; a sweep will make it good", consumer.name(), failure);
        }
        if (stored > 0) {
            boolean enough = signals.of(consumer.name()).ring((stored + policy.batch() - 1) / policy.batch());
            if (!enough && store instanceof QueueStore.Waking waking) {
                waking.wakeOthers(consumer.name());
            }
        }
    }

    private static @Nullable Outcome<?> tooLarge(QueuePolicy policy, Message message) {
        long size = message.size();
        return size <= policy.maxBytes()
                ? null
                : new Outcome.Rejected<>(
                        Rejection.TOO_LARGE,
                        "the message has " + size + " bytes, but the queue takes at most " + policy.maxBytes()
                                + ": store the payload elsewhere and send a reference, or raise maxBytes");
    }

    /** Asked at most a few times a second, so that a cap may be passed by what arrives in between. */
    private @Nullable Outcome<?> full(ConsumerPlan consumer, QueuePolicy policy) {
        if (policy.intakeCap() == Long.MAX_VALUE) {
            return null;
        }
        QueueLimit known = fullness.computeIfAbsent(consumer.name(), name -> new QueueLimit(FULLNESS_IS_FRESH));
        boolean full;
        try {
            full = known.get(() -> store.isFull(consumer.name(), policy.intakeCap()));
        } catch (StoreException failure) {
            return new Outcome.Failed<>(Failure.INFRASTRUCTURE, failure);
        }
        return full
                ? new Outcome.Failed<>(
                        Failure.INFRASTRUCTURE,
                        new StoreException(
                                "The queue of " + consumer.name() + " has reached its cap of " + policy.intakeCap()
                                        + " waiting messages: deliver the message again later",
                                null))
                : null;
    }
}
