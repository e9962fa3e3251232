package dev.idem;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What became of one delivery. Each outcome knows its {@link Settlement}; an adapter obeys it and decides nothing else.
 *
 * @param <T> what the handler returns
 */
public sealed interface Outcome<T extends @Nullable Object> {

    Settlement settlement();

    /** The handler ran and its transaction is confirmed committed. */
    record Processed<T extends @Nullable Object>(T result) implements Outcome<T> {
        @Override
        public Settlement settlement() {
            return Settlement.ACK;
        }
    }

    /**
     * A terminal marker of this key was read: Idem has the message, and it need not come again.
     *
     * @param state what is known of it. Its effect is there for certain only if it is {@link State#DONE}
     * @param markedAt when the marker was written: with the effect, or, of a consumer that is acknowledged on receipt, when the
     *     message was stored; if its effect came much later, then with that (see {@code docs/inbox.md})
     * @param storedResult the result, if the first run stored one
     */
    record Duplicate<T extends @Nullable Object>(State state, Instant markedAt, Optional<T> storedResult)
            implements Outcome<T> {
        /** What is known of a message that came again. */
        public enum State {
            /**
             * The consumer is done with it: its effect is there, or there was nothing to do for it (an old version, or a replay
             * that leaves effects out).
             */
            DONE,
            /** It is in the inbox: it waits for a worker or its next attempt, or is running now. */
            STORED,
            /** It is in the inbox, has no effect, and gets none before a person says so: parked, or given up. */
            PARKED,
            /**
             * It was here before, and that is all that was read. A watermark says no more: what is before it was done or set
             * aside. So it is also where the queue could not be asked.
             */
            SEEN
        }

        @Override
        public Settlement settlement() {
            return Settlement.ACK;
        }
    }

    /** The message is durable and visible to a worker or a sweep; the handler runs later. */
    record Stored<T extends @Nullable Object>() implements Outcome<T> {
        @Override
        public Settlement settlement() {
            return Settlement.ACK;
        }
    }

    /** The sequence guard has seen this version or a later one. */
    record Stale<T extends @Nullable Object>(long current) implements Outcome<T> {
        @Override
        public Settlement settlement() {
            return Settlement.ACK;
        }
    }

    /**
     * A predecessor is not done yet: the version before it, or a message before it in its batch that has the same ordering
     * key. Kept messages are acknowledged and released in order; others come again.
     *
     * @param missing the version that is missing, if versions are what the order is told by
     */
    record Held<T extends @Nullable Object>(OptionalLong missing, boolean kept) implements Outcome<T> {
        @Override
        public Settlement settlement() {
            return kept ? Settlement.ACK : Settlement.RETRY;
        }
    }

    /** Another delivery of the same key is running now. Never acknowledged: the other one may still roll back. */
    record Busy<T extends @Nullable Object>() implements Outcome<T> {
        @Override
        public Settlement settlement() {
            return Settlement.RETRY;
        }
    }

    /**
     * The same key was accepted with another payload. One of the two was not applied; a person must look.
     *
     * @param markedAt when the other one was; see {@link Duplicate}
     */
    record Conflict<T extends @Nullable Object>(Instant markedAt) implements Outcome<T> {
        @Override
        public Settlement settlement() {
            return Settlement.DEAD_LETTER;
        }
    }

    /** Older than the oldest marker that is still kept: it may or may not have been processed. */
    record Undecidable<T extends @Nullable Object>(Instant horizon) implements Outcome<T> {
        @Override
        public Settlement settlement() {
            return Settlement.DEAD_LETTER;
        }
    }

    /** Turned away before any handler saw it. */
    record Rejected<T extends @Nullable Object>(Rejection reason, String detail) implements Outcome<T> {
        @Override
        public Settlement settlement() {
            return Settlement.DEAD_LETTER;
        }
    }

    /** A policy says that this consumer does not run for this message. */
    record Suppressed<T extends @Nullable Object>(String reason) implements Outcome<T> {
        @Override
        public Settlement settlement() {
            return Settlement.ACK;
        }
    }

    /** The handler did not succeed; nothing of it is left in the database, unless the cause says so. */
    record Failed<T extends @Nullable Object>(Failure kind, Throwable cause) implements Outcome<T> {
        @Override
        public Settlement settlement() {
            return kind == Failure.TERMINAL ? Settlement.DEAD_LETTER : Settlement.RETRY;
        }
    }
}
