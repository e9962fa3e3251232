package dev.idem.internal.replay;

import dev.idem.internal.thread.Threads;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.Replayer;
import dev.idem.spi.ReplayStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An executor's hold on a session: lengthened by a thread of its own, however long a handler takes, which also sees within
 * a second that a person has paused or aborted it. Thread-safe.
 */
final class ReplayLease implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Replayer.class);
    private static final Duration LOOK = Duration.ofMillis(500);

    private final ReplayStore store;
    private final ReplaySession claimed;
    private final Duration lease;
    private final CountDownLatch closed;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread thread;
    private volatile boolean lost;
    private volatile boolean stopped;
    private volatile Duration heldBack = Duration.ZERO;

    /** @param closed counted down when the executor is to stop */
    ReplayLease(ReplayStore store, ReplaySession claimed, Duration lease, CountDownLatch closed) {
        this.store = store;
        this.claimed = claimed;
        this.lease = lease;
        this.closed = closed;
        thread = Threads.start("idem-replay-lease", false, this::renew);
    }

    ReplaySession session() {
        return claimed;
    }

    /** Whether nothing more may be sent: closed, paused, aborted, or somebody else's. */
    boolean isOver() {
        return closed.getCount() == 0 || lost || stopped;
    }

    private void renew() {
        try {
            while (!ended.await(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
                try {
                    progress(null);
                } catch (RuntimeException outage) { // the lease runs out if it lasts, and the fence tells
                    log.debug("{}: the lease could not be renewed", claimed.name(), outage);
                } catch (Throwable failure) {
                    Threads.survived(log, "The lease of a replay session could not be renewed; tried again", failure);
                }
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** False when it is not to go on. */
    boolean progress(ReplayStore.@Nullable Step step) {
        Optional<ReplaySession> now = store.progress(claimed, step, lease);
        lost |= now.isEmpty();
        stopped |= now.isPresent() && now.get().state() != ReplaySession.State.RUNNING;
        return !isOver();
    }

    void end(ReplaySession.State state, @Nullable String error) {
        if (store.end(claimed, state, error)) {
            lost = true;
            log.info("{}: replay session {} is {}", claimed.consumer(), claimed.name(), state);
        }
    }

    /** Nobody is to take it for so long: it would fail again, and others are waiting. */
    void holdBack(Duration pause) {
        heldBack = pause;
    }

    /** Waits, unless it is over; false if it is. */
    boolean await(Duration length) {
        long until = System.nanoTime() + length.toNanos();
        try {
            for (long left = length.toNanos(); left > 0 && !isOver(); left = until - System.nanoTime()) {
                TimeUnit.NANOSECONDS.sleep(Math.min(left, 50_000_000L));
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            stopped = true;
        }
        return !isOver();
    }

    /** Ends the renewal, and leaves the session to whoever takes it when the lease is over. */
    void runOut() {
        ended.countDown();
    }

    @Override
    public void close() {
        ended.countDown();
        try {
            thread.join();
            if (!lost && heldBack.isZero()) {
                store.release(claimed);
            } else if (!lost) {
                store.progress(claimed, null, heldBack);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException outage) {
            log.debug("{}: the lease could not be given back; it runs out", claimed.name(), outage);
        }
    }
}
