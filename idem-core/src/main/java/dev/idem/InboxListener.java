package dev.idem;

import dev.idem.sequence.Gap;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Hears what the inbox does; for metrics, alarms and logs. Called on one thread of the inbox's own, in order, shortly
 * after the fact, never inside a transaction: a listener that throws is logged, and one that blocks loses events, but
 * neither can change or delay an outcome.
 */
public interface InboxListener {
    /** A delivery has its outcome. The one event that counts everything. */
    default void settled(Delivery delivery) {}

    /** In observe mode: what the outcome would have been. The handler ran all the same, and {@code settled} follows. */
    default void observed(String consumer, Outcome<?> verdict) {}

    /** A message without a usable key, or older than the horizon, was processed all the same: its consumer says so. */
    default void unguarded(String consumer, Rejection reason) {}

    /** A unit was undone by a deadlock, a serialization failure or a lost connection, and runs again. */
    default void ranAgain(String consumer, int nextRun, Throwable cause) {}

    /** The answer to a commit was lost; the key is claimed again to learn what became of it. */
    default void commitUnknown(String consumer, Throwable cause) {}

    /** A handler sent nothing through its transaction: its effects are not protected. */
    default void transactionUnused(String consumer) {}

    /** A handler broke its transaction. A person must act. */
    default void transactionBroken(String consumer, BrokenTransactionException cause) {}

    /** A handler ran longer than it may. */
    default void timedOut(String consumer, Duration limit) {}

    /**
     * A handler goes on although its time is up and it was interrupted. A stored message's failure is recorded and its worker
     * replaced; a thread of the caller's own stays where it is. A person should look at the handler.
     */
    default void handlerStuck(String consumer, String thread) {}

    /** In a replay an effect was not made: its stored result, or what stands for it, was answered. */
    default void effectSuppressed(String consumer, String effect) {}

    /** Nobody knows whether an effect was made; its policy decides what comes of it. */
    default void effectUnknown(String consumer, String effect) {}

    /** The store does not answer the workers of a consumer; they pause, and no message loses an attempt. */
    default void workersPaused(String consumer, Throwable cause) {}

    /** The store answers again. */
    default void workersResumed(String consumer) {}

    /** A stored message is held because a version before it is missing; told once, when it is held first. */
    default void held(String consumer, Message message, long missing) {}

    /**
     * The resolver of a consumer has done something about a gap whose deadline was over.
     *
     * @param action GAP_SKIPPED, GAP_SNAPSHOT, GAP_PARKED or GAP_FETCHED
     */
    default void gapResolved(Gap gap, String action) {}

    /** So many events were lost since the last one, because a listener is too slow. */
    default void eventsLost(long count) {}

    /**
     * One delivery, settled.
     *
     * @param type the message's type if the consumer has a handler for it, else "other"
     * @param runs how often the handler was started, 0 if not at all
     * @param handling time inside the handler, all runs together
     * @param total time from the call to the outcome
     */
    record Delivery(
            String consumer,
            String type,
            Outcome<?> outcome,
            int runs,
            Duration handling,
            Duration total,
            Optional<Instant> eventTime) {}
}
