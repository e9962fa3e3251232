package dev.idem.jdbc.internal.queue;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** How long to wait after a failure: a second, then ever longer, up to half a minute, jittered. Used by one thread. */
final class Backoff {
    private static final long FIRST_MILLIS = 1_000;
    private static final int MOST_DOUBLINGS = 5;

    private int failures;

    Duration next() {
        long longest = FIRST_MILLIS << Math.min(failures++, MOST_DOUBLINGS);
        return Duration.ofMillis(ThreadLocalRandom.current().nextLong(longest / 2, longest + 1));
    }

    /** It has worked; answers what to wait now. */
    Duration reset(Duration then) {
        failures = 0;
        return then;
    }
}
