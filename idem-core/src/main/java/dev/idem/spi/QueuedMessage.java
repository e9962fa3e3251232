package dev.idem.spi;

import dev.idem.Message;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A stored message as a worker has read it.
 *
 * @param id grows in the order of receipt
 * @param fence grows with every move, so that nobody can move what somebody else has moved meanwhile
 * @param started how often its handler is known to have been started; of runs that succeeded or were undone by the
 *     database nothing is known
 * @param failed how often the handler is known to have ended with a failure
 * @param age how long ago that was, by the store's clock, which alone knows
 * @param overdue whether it was held for a version before it, and the deadline for that is over
 * @param halfDone whether steps or effects of it are on record although it is not done
 * @param unreadable why the stored bytes could not be read as a message; then {@code message} has nothing in it
 */
public record QueuedMessage(
        long id,
        MarkerKey key,
        Message message,
        long fence,
        int started,
        int failed,
        Instant storedAt,
        Duration age,
        boolean overdue,
        boolean halfDone,
        @Nullable String unreadable) {

    /** As a worker has it that took a lease, which counts as a start. */
    public QueuedMessage leased() {
        return new QueuedMessage(
                id, key, message, fence + 1, started + 1, failed, storedAt, age, overdue, halfDone, unreadable);
    }

    /** The same, if steps or effects of it were found. */
    public QueuedMessage withSteps() {
        return new QueuedMessage(id, key, message, fence, started, failed, storedAt, age, overdue, true, unreadable);
    }

    /** Whether it is certain that no worker had it before: each of them moves it, and a message that was held once. */
    public boolean isUntouched() {
        return started == 0 && fence <= 1;
    }

    /** Started once more than it ended: it may be what killed the process that ran it, so it must run alone. */
    public boolean isSuspect() {
        return started > failed;
    }
}
