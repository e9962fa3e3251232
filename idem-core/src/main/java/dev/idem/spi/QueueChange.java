package dev.idem.spi;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A move of one message, and what is recorded with it.
 *
 * @param delay until it is due, for those moves after which a worker may take it
 * @param reason a word for people and filters: TERMINAL, EXHAUSTED, …
 * @param run what is known of the run that led to it, if one did
 */
public record QueueChange(
        QueuedMessage message,
        QueueMove move,
        Duration delay,
        String reason,
        @Nullable FailedRun run) {
    public QueueChange {
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(move, "move");
        Objects.requireNonNull(delay, "delay");
        Objects.requireNonNull(reason, "reason");
    }

    /**
     * A run of the handler that failed; kept in the history of attempts.
     *
     * @param error what went wrong, as text for people in UTF-8, capped and redacted
     * @param ran whether the handler was called, so that it counts as an attempt
     */
    @SuppressWarnings("ArrayRecordComponent") // passed once, compared by nobody
    public record FailedRun(String errorType, byte[] error, Duration duration, boolean ran) {}
}
