package dev.idem.internal.unit;

import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Outcome.Duplicate;
import dev.idem.Outcome.Duplicate.State;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.queue.QueueState;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.QueueStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out what became of a message that came again, where a marker does not tell: of consumers that keep messages, what is
 * still in the queue is not done. Costs nothing but for duplicates of such consumers, and nothing of it decides: who cannot ask
 * says no more than the marker did. Thread-safe.
 */
public final class DuplicateLookup {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private final @Nullable QueueStore queue;

    DuplicateLookup(MarkerStore store) {
        queue = store instanceof MarkerStore.Queueing queueing ? queueing.queue() : null;
    }

    /** For a single one. */
    public <T extends @Nullable Object> Outcome<T> lookFor(ConsumerPlan consumer, Message message, Outcome<T> outcome) {
        MarkerKey key = isUncertain(consumer, outcome) ? consumer.keyOf(message).orElse(null) : null;
        State found = key == null ? null : look(consumer, List.of(key)).get(key);
        return found == null ? outcome : in(found, outcome);
    }

    /** Whether only the queue knows what became of it. */
    public boolean isUncertain(ConsumerPlan consumer, Outcome<?> outcome) {
        return queue != null
                && consumer.queue().isPresent()
                && outcome instanceof Duplicate<?> duplicate
                && duplicate.state() == State.SEEN;
    }

    /** The same duplicate, of which more is known. */
    public static <T extends @Nullable Object> Outcome<T> in(State state, Outcome<T> outcome) {
        return outcome instanceof Duplicate<T> duplicate
                ? new Duplicate<>(state, duplicate.markedAt(), duplicate.storedResult())
                : outcome;
    }

    /**
     * For many, in one round trip; of consumers that are acknowledged on receipt also counts them on their markers. The markers
     * were read before, so what is not in the queue now is done.
     *
     * @param keys with repetitions, each of which counts
     */
    public Map<MarkerKey, State> look(ConsumerPlan consumer, List<MarkerKey> keys) {
        Map<MarkerKey, State> states = new HashMap<>();
        if (queue == null) {
            return states;
        }
        try {
            Map<MarkerKey, QueueState> kept = queue.seenAgain(consumer.name(), keys, consumer.isQueued());
            keys.forEach(key -> states.put(key, state(kept.get(key))));
        } catch (RuntimeException failure) {
            log.debug("{}: what became of duplicates could not be asked", consumer.name(), failure);
        }
        return states;
    }

    private static State state(@Nullable QueueState kept) {
        if (kept == null || kept == QueueState.COMPLETED) {
            return State.DONE;
        }
        return kept == QueueState.PARKED || kept == QueueState.FAILED_TERMINAL ? State.PARKED : State.STORED;
    }
}
