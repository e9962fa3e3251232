package dev.idem;

import dev.idem.spi.MarkerStore;
import dev.idem.spi.ReplayStore;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does the replay sessions of its consumers, one after the other, on a thread of its own: in a service, because only there
 * are the consumers' handlers, key rules and policies. Sessions are asked for in the store, by a person. Several services
 * may have one for the same consumer; a session whose executor died is taken over when its lease has run out, and goes on
 * where the last step was written down. Thread-safe.
 *
 * <pre>{@code
 * Replayer replayer = Replayer.builder(inbox).consumer(orders).source(JdbcReplays.stored(schema)).start();
 * }</pre>
 */
public final class Replayer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Replayer.class);
    private static final long LONGEST_PAUSE_MILLIS = 30_000;
    private static final Duration LAST_WORDS = Duration.ofSeconds(10);

    private final Inbox inbox;
    private final ReplayStore store;
    private final Map<String, Consumer> consumers;
    private final Map<String, ReplaySource> sources;
    private final RetryPolicy retry;
    private final Duration lease;
    private final Duration poll;
    private final String worker;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;
    private volatile @Nullable ReplayLease current;

    /** How often the source of a session could not be read, one time after the other; known to the thread alone. */
    private final Map<String, Integer> unread = new HashMap<>();

    private Replayer(Builder from, ReplayStore store) {
        this.inbox = from.inbox;
        this.store = store;
        consumers = Map.copyOf(from.consumers);
        sources = Map.copyOf(from.sources);
        retry = from.retry;
        lease = from.lease;
        poll = from.poll;
        worker = "pid " + ProcessHandle.current().pid() + "/replayer-"
                + Integer.toHexString(ThreadLocalRandom.current().nextInt());
        thread = Threads.start("idem-replayer", false, this::loop);
    }

    public static Builder builder(Inbox inbox) {
        return new Builder(inbox);
    }

    private void loop() {
        int failures = 0;
        while (closed.getCount() > 0) {
            try {
                boolean worked = turn();
                failures = 0;
                if (!worked) {
                    pause(poll);
                }
            } catch (Throwable failure) { // nothing may end the thread that others wait for
                failures++;
                if (failures == 1) {
                    log.warn("Replays pause: {}", failure.toString());
                }
                log.debug("Replays pause", failure);
                pause(pauseAfter(failures));
            }
        }
    }

    /** False when there is nothing to do. */
    private boolean turn() {
        ReplaySession session = store.claim(consumers.keySet(), worker, lease).orElse(null);
        if (session == null) {
            return false;
        }
        Consumer consumer = Objects.requireNonNull(consumers.get(session.consumer()));
        log.info(
                "{}: replay session {} of {}, asked for by {}",
                consumer.name(),
                session.name(),
                session.source(),
                session.actor());
        try (ReplayLease kept = new ReplayLease(store, session, lease, closed)) {
            current = kept;
            ReplayRun run = new ReplayRun(inbox, consumer, sources, retry, store, kept);
            boolean read = run.run();
            if (read || run.hasMoved()) {
                unread.remove(session.name());
            }
            if (!read) {
                kept.holdBack(pauseAfter(unread.merge(session.name(), 1, Integer::sum)));
            }
        }
        return true;
    }

    /** Longer and longer, and not in step with others. */
    private static Duration pauseAfter(int failures) {
        long ceiling = Math.min(LONGEST_PAUSE_MILLIS, 100L << Math.min(failures, 20));
        return Duration.ofMillis(ceiling / 2 + ThreadLocalRandom.current().nextLong(ceiling / 2));
    }

    private void pause(Duration length) {
        try {
            if (closed.await(length.toNanos(), TimeUnit.NANOSECONDS)) {
                log.debug("The replayer is closed");
            }
        } catch (InterruptedException leftBehind) {
            log.debug("A handler has left an interrupt behind");
        }
    }

    /**
     * Ends after the messages that are being handled, and lets its session go, so that another executor goes on with it. The
     * session of a handler that does not end is not renewed any more.
     */
    @Override
    public void close() {
        closed.countDown();
        try {
            thread.join(LAST_WORDS.toMillis());
            if (thread.isAlive()) {
                thread.interrupt();
                thread.join(LAST_WORDS.toMillis());
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            thread.interrupt();
        }
        ReplayLease held = current;
        if (held != null && thread.isAlive()) {
            held.runOut();
        }
    }

    /** Collects what a replayer has. Not thread-safe. */
    public static final class Builder {
        private final Inbox inbox;
        private final Map<String, Consumer> consumers = new LinkedHashMap<>();
        private final Map<String, ReplaySource> sources = new LinkedHashMap<>();
        private RetryPolicy retry = RetryPolicy.exponential(Duration.ofMillis(200), Duration.ofSeconds(30));
        private Duration lease = Duration.ofSeconds(30);
        private Duration poll = Duration.ofSeconds(1);

        private Builder(Inbox inbox) {
            this.inbox = Objects.requireNonNull(inbox, "inbox");
        }

        public Builder consumer(Consumer consumer) {
            consumers.put(consumer.name(), consumer);
            return this;
        }

        public Builder source(ReplaySource source) {
            sources.put(source.scheme(), source);
            return this;
        }

        /** When a message whose handler failed is tried again, and how often; default 10 times, after 200 ms to 30 s. */
        public Builder retry(RetryPolicy value) {
            retry = Objects.requireNonNull(value, "value");
            return this;
        }

        /** After how long without a sign of life another executor takes over; default 30 s, at least a second. */
        public Builder lease(Duration value) {
            if (value.compareTo(Duration.ofSeconds(1)) < 0) {
                throw new IllegalArgumentException("lease is " + value + ", but must be at least a second");
            }
            lease = value;
            return this;
        }

        /** How often it looks for new sessions; default every second. */
        public Builder poll(Duration value) {
            if (value.isNegative() || value.isZero()) {
                throw new IllegalArgumentException("poll is " + value + ", but must be positive");
            }
            poll = value;
            return this;
        }

        /**
         * Starts it.
         *
         * @throws UnsupportedOperationException if the store keeps no replay sessions
         */
        public Replayer start() {
            if (consumers.isEmpty() || sources.isEmpty()) {
                throw new IllegalArgumentException("a replayer needs a consumer and a source");
            }
            if (!(inbox.store() instanceof MarkerStore.Replaying replaying)) {
                throw new UnsupportedOperationException(inbox.store().describe() + " keeps no replay sessions");
            }
            consumers
                    .values()
                    .forEach(inbox::register); // else nobody could ask for a session before their first message
            return new Replayer(this, replaying.replays());
        }
    }
}
