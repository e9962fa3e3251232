package dev.idem.spi;

import static dev.idem.queue.QueueState.COMPLETED;
import static dev.idem.queue.QueueState.FAILED_RETRYABLE;
import static dev.idem.queue.QueueState.FAILED_TERMINAL;
import static dev.idem.queue.QueueState.HELD;
import static dev.idem.queue.QueueState.IN_PROGRESS;
import static dev.idem.queue.QueueState.PARKED;
import static dev.idem.queue.QueueState.RECEIVED;

import dev.idem.queue.QueueState;
import java.util.Set;

/**
 * Every way a stored message can change its state; there is no other. A store makes a move only if the message is in one
 * of the states the move starts from, and nobody else has moved it since it was read, which its fence tells.
 *
 * <pre>
 *   store ──► RECEIVED ◄──────────────────────────── release ──── HELD ◄── store, behind another of its key
 *                │ lease      complete                             │
 *                ├────► IN_PROGRESS ──► COMPLETED                  │
 *                │        │  │   └─ give back ─► RECEIVED          │
 *                │        │  └─ fail ─► FAILED_RETRYABLE ─► (as RECEIVED, when due)
 *                ├────────┴─ hold ─► HELD, until the version before it is applied, or until it is due
 *                └─ park ─┴─► PARKED ◄──────────────────── park ───┘
 *                               ├─ retry ─► RECEIVED, or HELD behind another of its key
 *                               └─ skip ──► FAILED_TERMINAL ── retry, as above
 * </pre>
 */
public enum QueueMove {
    /** A worker takes a lease; also of one whose lease has run out, or that was held for long enough. */
    LEASE(IN_PROGRESS, RECEIVED, FAILED_RETRYABLE, IN_PROGRESS, HELD),
    /** The handler's work is committed. Its followers of the same key may be done in the same transaction. */
    COMPLETE(COMPLETED, RECEIVED, FAILED_RETRYABLE, IN_PROGRESS, HELD),
    /** The handler failed, and another try may help. */
    FAIL(FAILED_RETRYABLE, RECEIVED, FAILED_RETRYABLE, IN_PROGRESS, HELD),
    /** Nothing was decided: a lease is given back unused, or a fault of the database hit this message alone. */
    GIVE_BACK(RECEIVED, RECEIVED, FAILED_RETRYABLE, IN_PROGRESS, HELD),
    /** Set aside: by the retry policy, with the head of its key, or by a person. */
    PARK(PARKED, RECEIVED, FAILED_RETRYABLE, IN_PROGRESS, HELD),
    /** A version before it is missing: it waits for that one, or for its deadline. */
    HOLD(HELD, RECEIVED, FAILED_RETRYABLE, IN_PROGRESS, HELD),
    /** Nothing of its key is before it any more. */
    RELEASE(RECEIVED, HELD),
    /** A person wants it tried again, now. */
    RETRY(RECEIVED, PARKED, FAILED_RETRYABLE, FAILED_TERMINAL),
    /** A person wants it tried again, when those before it of its key are done. */
    RETRY_BEHIND(HELD, PARKED, FAILED_RETRYABLE, FAILED_TERMINAL),
    /** A person gives it up. */
    SKIP(FAILED_TERMINAL, RECEIVED, FAILED_RETRYABLE, PARKED, HELD);

    private final QueueState to;

    @SuppressWarnings("ImmutableEnumChecker") // what Set.of makes cannot be changed
    private final Set<QueueState> from;

    QueueMove(QueueState to, QueueState... from) {
        this.to = to;
        this.from = Set.of(from);
    }

    public QueueState to() {
        return to;
    }

    public Set<QueueState> from() {
        return from;
    }
}
