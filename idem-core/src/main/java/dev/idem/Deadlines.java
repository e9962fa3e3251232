package dev.idem;

import dev.idem.spi.Unit;
import java.time.Duration;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Ends units whose handler runs too long. The handler's thread cannot be stopped, so its connection is taken away: the
 * transaction is torn down, the key is free for deliveries to other processes, and whatever the late handler still tries
 * throws. In this process the key stays busy until the late handler returns.
 *
 * <p>One thread looks at all running handlers now and then, and at the latest when the next deadline is due: a handler
 * that ends in time, as almost all do, wakes nobody.
 */
final class Deadlines implements AutoCloseable {
    private static final long LONGEST_NAP = Duration.ofSeconds(1).toNanos();

    private final Set<Watch> running = ConcurrentHashMap.newKeySet();
    private final Thread thread = new Thread(this::watchAll, "idem-deadlines");
    private volatile long nextLook = System.nanoTime();
    private volatile boolean closed;

    Deadlines() {
        thread.setDaemon(true);
        thread.start();
    }

    Watch watch(Unit unit, Duration limit) {
        return watch(unit::withdraw, unit::abandon, limit);
    }

    /** Watches something that is not one unit; the two mean what they mean for a unit. */
    Watch watch(BooleanSupplier withdraw, Runnable abandon, Duration limit) {
        if (closed) {
            throw new StoreException("The inbox is closed; deliver the message again", null);
        }
        Watch watch = new Watch(this, withdraw, abandon, Thread.currentThread(), System.nanoTime() + limit.toNanos());
        running.add(watch);
        if (watch.due - nextLook < 0) {
            LockSupport.unpark(thread);
        }
        return watch;
    }

    private void watchAll() {
        while (!closed) {
            long now = System.nanoTime();
            // Said before looking: who comes after this and is due earlier wakes the thread.
            nextLook = now + LONGEST_NAP;
            long nap = LONGEST_NAP;
            for (Iterator<Watch> watches = running.iterator(); watches.hasNext(); ) {
                Watch watch = watches.next();
                long left = watch.due - now;
                if (left <= 0) {
                    watches.remove();
                    watch.fire();
                } else {
                    nap = Math.min(nap, left);
                }
            }
            nextLook = now + nap;
            LockSupport.parkNanos(this, nap);
        }
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }

    /** One handler's deadline. */
    static final class Watch {
        private final Deadlines deadlines;
        private final BooleanSupplier withdraw;
        private final Runnable abandon;
        private final Thread handler;
        private final long due;
        private boolean finished;
        private boolean fired;

        private Watch(Deadlines deadlines, BooleanSupplier withdraw, Runnable abandon, Thread handler, long due) {
            this.deadlines = deadlines;
            this.withdraw = withdraw;
            this.abandon = abandon;
            this.handler = handler;
            this.due = due;
        }

        void fire() {
            synchronized (this) {
                if (finished) {
                    return;
                }
                fired = true;
                boolean inCall = withdraw.getAsBoolean();
                if (!inCall) {
                    handler.interrupt(); // under the lock, so that it cannot hit what the thread does next
                }
            }
            // Tearing down may wait for the database; the deadlines of other handlers must not.
            Thread thread = new Thread(abandon, "idem-abandon");
            thread.setDaemon(true);
            thread.start();
        }

        /** Ends the watch; true when the handler was too late. */
        boolean finish() {
            deadlines.running.remove(this);
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
