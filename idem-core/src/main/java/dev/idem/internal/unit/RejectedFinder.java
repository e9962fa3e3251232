package dev.idem.internal.unit;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Lets one message at a time run that may have ended a process: of two that run side by side nobody could tell which one ends
 * the next. Thread-safe.
 */
public final class RejectedFinder {
    private static final Duration SHORTEST = Duration.ofMillis(50);
    private static final Duration LONGEST = Duration.ofSeconds(2);

    private @Nullable Object running;
    private long since;

    /** False when another one is running; then {@link #pause} says when to ask again. */
    public synchronized boolean begin(Object worker) {
        if (running != null) {
            return false;
        }
        running = worker;
        since = System.nanoTime();
        return true;
    }

    /** Does nothing if this worker's has ended before. */
    public synchronized void end(Object worker) {
        if (running == worker) {
            running = null;
        }
    }

    /** As long as the other one has been running up to now, within bounds. */
    public synchronized Duration pause() {
        Duration busy = running == null ? SHORTEST : Duration.ofNanos(System.nanoTime() - since);
        return busy.compareTo(SHORTEST) < 0 ? SHORTEST : busy.compareTo(LONGEST) > 0 ? LONGEST : busy;
    }
}
