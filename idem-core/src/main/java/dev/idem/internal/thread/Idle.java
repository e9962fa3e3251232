package dev.idem.internal.thread;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** How long a worker that finds nothing waits before it looks again: ever longer, jittered. Used by one thread. */
public final class Idle {
    private static final long FIRST_NANOS = Duration.ofMillis(20).toNanos();

    private final long longest;
    private long pause = FIRST_NANOS;

    public Idle(Duration longest) {
        this.longest = longest.toNanos();
    }

    public Duration next() {
        long now = Math.min(pause, longest);
        pause = Math.min(pause * 2, longest);
        return Duration.ofNanos(now - ThreadLocalRandom.current().nextLong(now / 4 + 1));
    }

    public void reset() {
        pause = FIRST_NANOS;
    }
}
