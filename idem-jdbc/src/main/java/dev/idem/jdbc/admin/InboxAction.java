package dev.idem.jdbc.admin;

import static dev.idem.queue.QueueState.FAILED_RETRYABLE;
import static dev.idem.queue.QueueState.HELD;
import static dev.idem.queue.QueueState.PARKED;
import static dev.idem.queue.QueueState.RECEIVED;

import dev.idem.queue.QueueState;
import java.util.Set;

/** What a person can do with a stored message. */
public enum InboxAction {
    /**
     * Tries it again, now, with all its attempts before it. It keeps its place: behind an earlier message of its ordering
     * key it waits for that one.
     */
    RETRY(PARKED),
    /** Sets it aside. Later messages of its ordering key wait behind it. */
    PARK(RECEIVED, FAILED_RETRYABLE, HELD),
    /** Gives it up: its effect will not happen, and later messages of its ordering key go on. */
    SKIP(PARKED);

    @SuppressWarnings("ImmutableEnumChecker") // what Set.of makes cannot be changed
    private final Set<QueueState> usual;

    InboxAction(QueueState... usual) {
        this.usual = Set.of(usual);
    }

    /** In which states messages are meant by a filter that names none. */
    public Set<QueueState> usualStates() {
        return usual;
    }
}
