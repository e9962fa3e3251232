package dev.idem;

import dev.idem.spi.Unit;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Ends units whose handler runs too long. The handler's thread cannot be stopped, so its connection is taken away: the
 * transaction is torn down, the key is free for another delivery, and whatever the late handler still tries throws.
 */
final class Deadlines implements AutoCloseable {
    private final ScheduledThreadPoolExecutor timer;

    Deadlines() {
        timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "idem-deadlines");
            thread.setDaemon(true);
            return thread;
        });
        timer.setRemoveOnCancelPolicy(true);
    }

    Watch watch(Unit unit, Duration limit) {
        Watch watch = new Watch(unit, Thread.currentThread());
        try {
            watch.alarm = timer.schedule(watch::fire, limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException closed) {
            throw new StoreException("The inbox is closed; deliver the message again", closed);
        }
        return watch;
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }

    /** One handler's deadline. */
    static final class Watch {
        private final Unit unit;
        private final Thread handler;
        private boolean finished;
        private boolean fired;
        private ScheduledFuture<?> alarm;

        @SuppressWarnings("NullAway.Init") // set by watch() before the handler starts
        private Watch(Unit unit, Thread handler) {
            this.unit = unit;
            this.handler = handler;
        }

        void fire() {
            synchronized (this) {
                if (finished) {
                    return;
                }
                fired = true;
                handler.interrupt(); // under the lock, so that it cannot hit what the thread does next
            }
            unit.abandon();
        }

        /** Ends the watch; true when the handler was too late. */
        boolean finish() {
            alarm.cancel(false);
            synchronized (this) {
                finished = true;
                if (fired) {
                    Thread.interrupted(); // ours, not a request to stop
                }
                return fired;
            }
        }
    }
}
