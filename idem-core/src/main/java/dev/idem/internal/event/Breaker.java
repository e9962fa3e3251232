package dev.idem.internal.event;

import dev.idem.Inbox;
import dev.idem.StoreException;
import dev.idem.internal.incident.Causes;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the workers of a consumer from hammering a store that cannot answer: after a failure they pause, ever longer and
 * each for another while; after the first success they go on at full speed. Thread-safe.
 */
public final class Breaker {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final long FIRST_MILLIS = 50;
    private static final long LONGEST_MILLIS = 5_000;

    private final String consumer;
    private final Events events;
    private int failures;
    private long until;
    private boolean stopped;

    public Breaker(String consumer, Events events) {
        this.consumer = consumer;
        this.events = events;
    }

    /** Waits while the store is given time. */
    public synchronized void await() throws InterruptedException {
        while (failures > 0 && !stopped) {
            long left = (until - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                return;
            }
            wait(left);
        }
    }

    public synchronized void opened(Throwable cause) {
        if (failures == 0) {
            log.warn("{}: the store does not answer ({}); its workers pause", consumer, told(cause));
            log.debug("{}: the store does not answer", consumer, cause);
            events.tell(l -> l.workersPaused(consumer, cause));
        }
        failures++;
        long ceiling = Math.min(LONGEST_MILLIS, FIRST_MILLIS << Math.min(failures, 20));
        long pause = ceiling / 2 + ThreadLocalRandom.current().nextLong(ceiling / 2 + 1);
        until = System.nanoTime() + Duration.ofMillis(pause).toNanos();
    }

    /** Of a store's error what it says, because it says what to do. Of others the type: drivers quote values of a failed batch. */
    private static String told(Throwable cause) {
        String type = cause.getClass().getName();
        return cause instanceof StoreException ? type + ": " + Causes.text(cause, UnaryOperator.identity()) : type;
    }

    /**
     * A worker could do its turn.
     *
     * @param handled whether there was something to do: a look that finds nothing proves little while others still fail
     */
    public synchronized void answered(boolean handled) {
        boolean quiet =
                System.nanoTime() - until > Duration.ofMillis(LONGEST_MILLIS).toNanos();
        if (failures > 0 && (handled || quiet)) {
            log.info("{}: the store answers again; its workers go on", consumer);
            events.tell(l -> l.workersResumed(consumer));
            failures = 0;
            notifyAll();
        }
    }

    /** Nobody waits any more. */
    public synchronized void stop() {
        stopped = true;
        notifyAll();
    }
}
