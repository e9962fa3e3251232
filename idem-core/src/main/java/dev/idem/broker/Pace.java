package dev.idem.broker;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a listener from hammering what does not answer, the store or the broker: after each failure it waits, ever longer up
 * to three seconds; after the first success it goes on at full speed. Thread-safe.
 */
public final class Pace {
    private static final Logger log = LoggerFactory.getLogger(Pace.class);
    private static final long FIRST_MILLIS = 50;
    private static final long LONGEST_MILLIS = 3_000;

    private final String who;
    private int failures;
    private long until;

    /** For the listener of this name, which the log tells. */
    public Pace(String who) {
        this.who = who;
    }

    /** Something did not answer. */
    public synchronized void failed(Throwable cause) {
        if (failures == 0) {
            // Its type only: drivers quote values of a failed statement in their messages.
            log.warn(
                    "{}: no answer ({}); waits, and tries again",
                    who,
                    cause.getClass().getName());
        }
        log.debug("{}: no answer", who, cause);
        failures++;
        long ceiling = Math.min(LONGEST_MILLIS, FIRST_MILLIS << Math.min(failures, 20));
        long pause = ceiling / 2 + ThreadLocalRandom.current().nextLong(ceiling / 2 + 1);
        until = System.nanoTime() + Duration.ofMillis(pause).toNanos();
    }

    /** It answered. */
    public synchronized void succeeded() {
        if (failures > 0) {
            log.info("{}: answers again; goes on", who);
            failures = 0;
            until = System.nanoTime();
        }
    }

    /** Whether the last call found no answer. */
    public synchronized boolean isWaiting() {
        return failures > 0;
    }

    /** How long to wait before the next try; zero if not at all. */
    public synchronized Duration left() {
        return failures == 0 ? Duration.ZERO : Duration.ofNanos(Math.max(0, until - System.nanoTime()));
    }
}
