package dev.idem.internal.replay;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.RetryPolicy;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.thread.Threads;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySource;
import dev.idem.replay.Replayer;
import dev.idem.spi.ReplayStore;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread that runs replay sessions, one after the other. Thread-safe. */
public final class ReplayLoop implements Replayer {
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

    public ReplayLoop(
            Inbox inbox,
            Map<String, Consumer> consumers,
            Map<String, ReplaySource> sources,
            RetryPolicy retry,
            Duration lease,
            Duration poll,
            ReplayStore store) {
        this.inbox = inbox;
        this.store = store;
        this.consumers = Map.copyOf(consumers);
        this.sources = Map.copyOf(sources);
        this.retry = retry;
        this.lease = lease;
        this.poll = poll;
        worker = "pid " + ProcessHandle.current().pid() + "/replayer-"
                + Integer.toHexString(ThreadLocalRandom.current().nextInt());
        thread = Threads.start("idem-replayer", false, this::loop);
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
            ReplayRun run = new ReplayRun(inbox, ConsumerPlan.of(consumer), sources, retry, store, kept);
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
}
