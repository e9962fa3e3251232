package dev.idem.internal.unit;

import dev.idem.Failure;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.spi.MarkerKey;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says that messages are given back because the database undid them, now and then: it may happen every second. Thread-safe. */
public final class GivenBack {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final long PAUSE = Duration.ofSeconds(10).toNanos();

    private long untold;
    private long next = System.nanoTime();

    public synchronized void tell(MarkerKey key, Outcome<?> outcome) {
        if (!(outcome instanceof Outcome.Failed<?> failed) || failed.kind() != Failure.INFRASTRUCTURE) {
            return;
        }
        if (System.nanoTime() - next < 0) {
            untold++;
            return;
        }
        // Its type only: drivers quote values of a failed batch in their messages.
        log.warn(
                "{}: given back without an attempt, because the store undid it ({}); {} more since the last such line",
                key,
                failed.cause().getClass().getName(),
                untold);
        log.debug("{}: given back", key, failed.cause());
        untold = 0;
        next = System.nanoTime() + PAUSE;
    }
}
