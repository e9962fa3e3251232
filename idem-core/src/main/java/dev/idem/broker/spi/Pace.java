package dev.idem.broker.spi;

import dev.idem.StoreException;
import dev.idem.broker.Waiting;
import dev.idem.spi.UnplacedException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a listener from hammering what does not answer, the store or the broker: after each failure it waits, ever longer up
 * to three seconds; after the first success it goes on at full speed. Tells what is waited for, and since when. Thread-safe.
 */
public final class Pace {
    private static final Logger log = LoggerFactory.getLogger(Pace.class);
    private static final long FIRST_MILLIS = 50;
    private static final long LONGEST_MILLIS = 3_000;
    private static final int MOST_CAUSES = 10;

    private final String who;
    private final String what;
    private final boolean quotes;
    private int failures;
    private long until;
    private @Nullable Waiting waiting;
    private String kind = "";

    private Pace(String who, String what, boolean quotes) {
        this.who = who;
        this.what = what;
        this.quotes = quotes;
    }

    /**
     * For what a listener asks of its store. Messages of drivers are not quoted, because they may quote values; that a key has no
     * place yet is.
     */
    public static Pace ofStore(String who) {
        return new Pace(who, "the store", false);
    }

    /**
     * For what a listener asks of its broker.
     *
     * @param who the listener, which the log names first
     * @param what is asked: {@code the broker}, {@code queue orders}
     */
    public static Pace ofBroker(String who, String what) {
        return new Pace(who, what, true);
    }

    /** It did not answer. */
    public synchronized void failed(Throwable cause) {
        String words = words(cause);
        failed(cause, cause instanceof UnplacedException ? PrintableText.of("" + cause.getMessage()) : words, words);
    }

    /** It did not answer, or refused, and this is what to tell people about it. */
    public synchronized void failed(Throwable cause, String why) {
        failed(cause, why, why);
    }

    /** @param sort told once: what differs between messages does not make another one */
    private void failed(Throwable cause, String why, String sort) {
        Waiting before = waiting;
        waiting = new Waiting(what, before == null ? Instant.now() : before.since(), why);
        if (before == null || !kind.equals(sort)) {
            kind = sort;
            log.warn("{}: waits for {} and tries again: {}", who, what, why);
        }
        log.debug("{}: no answer from {}", who, what, cause);
        failures++;
        long ceiling = Math.min(LONGEST_MILLIS, FIRST_MILLIS << Math.min(failures, 20));
        long pause = ceiling / 2 + ThreadLocalRandom.current().nextLong(ceiling / 2 + 1);
        until = System.nanoTime() + Duration.ofMillis(pause).toNanos();
    }

    private String words(Throwable cause) {
        StringBuilder words = new StringBuilder(cause.getClass().getName());
        Throwable next = cause;
        boolean ofDatabase = cause instanceof StoreException;
        for (int i = 0; i < MOST_CAUSES && next != null; i++, next = next.getCause()) {
            if (next instanceof SQLException sql && sql.getSQLState() != null) {
                ofDatabase = true;
                words.append(" (SQLState ").append(sql.getSQLState()).append(')');
                break;
            }
        }
        if (quotes && !ofDatabase && cause.getMessage() != null) { // drivers of databases may quote values
            words.append(": ").append(PrintableText.of(cause.getMessage()));
        }
        return words.toString();
    }

    /** It answered. */
    public synchronized void succeeded() {
        if (waiting != null) {
            log.info("{}: {} answers again", who, what);
            waiting = null;
            failures = 0;
            until = System.nanoTime();
        }
    }

    /** Whether the last call found no answer. */
    public synchronized boolean isWaiting() {
        return waiting != null;
    }

    /** What is waited for, if the last call found no answer. */
    public synchronized Optional<Waiting> waiting() {
        return Optional.ofNullable(waiting);
    }

    /** How long to wait before the next try; zero if not at all. */
    public synchronized Duration left() {
        return waiting == null ? Duration.ZERO : Duration.ofNanos(Math.max(0, until - System.nanoTime()));
    }
}
