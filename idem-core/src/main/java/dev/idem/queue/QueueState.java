package dev.idem.queue;

/**
 * Where a stored message stands. {@link dev.idem.spi.QueueMove} has the ways between the states.
 *
 * <p>Every state is final, or some sweep looks at it: workers take what is {@link #RECEIVED} or {@link #FAILED_RETRYABLE}
 * when it is due, and what is {@link #IN_PROGRESS} when its lease has run out; what is {@link #HELD} is released when it has
 * become the first of its ordering key, or the version before it was applied, or its deadline is over; what is {@link #PARKED} is counted and listed until a person decides.
 */
public enum QueueState {
    /** Waits for a worker. */
    RECEIVED(0),
    /** A worker has a lease on it. */
    IN_PROGRESS(1),
    /** Failed, and will be tried again when it is due. */
    FAILED_RETRYABLE(2),
    /** Waits behind an earlier message of its ordering key, or for a version before it that is missing. */
    HELD(3),
    /** Set aside until a person decides. */
    PARKED(4),
    /** Given up for good, by a person. It blocks nobody, and is kept for as long as its marker. */
    FAILED_TERMINAL(5),
    /** Done. Its row has left the queue; the marker remains. */
    COMPLETED(6);

    private final int code;

    QueueState(int code) {
        this.code = code;
    }

    /** What stands for it in the tables. */
    public int code() {
        return code;
    }

    public static QueueState of(int code) {
        for (QueueState state : values()) {
            if (state.code == code) {
                return state;
            }
        }
        throw new IllegalArgumentException("no state has the code " + code);
    }

    /** Whether nothing will happen to the message any more, unless a person wants it. */
    public boolean isFinal() {
        return this == FAILED_TERMINAL || this == COMPLETED;
    }
}
