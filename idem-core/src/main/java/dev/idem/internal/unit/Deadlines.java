package dev.idem.internal.unit;

import dev.idem.Inbox;
import dev.idem.StoreException;
import dev.idem.internal.thread.Threads;
import dev.idem.spi.UnitOfWork;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends units whose handler runs too long. The handler's thread cannot be stopped, so its connection is taken away: the
 * transaction is torn down, the key is free for deliveries to other processes, and whatever the late handler still tries
 * throws. In this process the key stays busy until the late handler returns. One that is inside a call to the database is
 * interrupted when that call was cancelled. One that does not even return a moment after it was interrupted is stuck:
 * whoever watches it is told, once.
 *
 * <p>One thread looks at all running handlers now and then, and at the latest when the next deadline is due: a handler
 * that ends in time, as almost all do, wakes nobody.
 */
public final class Deadlines implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final long LONGEST_NAP = Duration.ofSeconds(1).toNanos();

    /** How long a handler whose time is up may take to return. */
    private static final long GRACE = Duration.ofSeconds(1).toNanos();

    /** How long the database may take to cancel the call that a handler is inside of, and how often that is looked at. */
    private static final long LONGEST_CANCEL = Duration.ofSeconds(4).toNanos();

    private static final long CANCEL_LOOK = Duration.ofMillis(200).toNanos();

    private final Set<Watch> running = ConcurrentHashMap.newKeySet();
    private final Thread thread = new Thread(this::watchAll, "idem-deadlines");
    private volatile long nextLook = System.nanoTime();
    private volatile boolean closed;

    Deadlines() {
        thread.setDaemon(true);
        thread.start();
    }

    /** @param stuck see the other one */
    Watch watch(UnitOfWork unit, Duration limit, Supplier<Runnable> stuck) {
        return watch(unit::withdraw, unit::abandon, limit, stuck);
    }

    /**
     * The same, but what the handler holds is not torn down before it returns, or whoever is told that it is stuck does so:
     * else somebody could take its message before its failure is on record. Only a call to the database is ended at once.
     *
     * @param free ends and gives back all that the thread holds
     */
    Watch watchHolding(UnitOfWork unit, Runnable free, Duration limit, Supplier<Runnable> stuck) {
        return watch(new Watch(this, unit::withdraw, unit::abandon, free, stuck, limit, true));
    }

    /**
     * Watches something that is not one unit; the first two mean what they mean for a unit.
     *
     * @param stuck called when the handler ignores its deadline; before it has returned the handler cannot finish, so it must
     *     be quick; what it answers is run on another thread
     */
    public Watch watch(BooleanSupplier withdraw, Runnable abandon, Duration limit, Supplier<Runnable> stuck) {
        return watch(new Watch(this, withdraw, abandon, abandon, stuck, limit, false));
    }

    /** Watches code of the user's that is in no unit, so that there is nothing to take away from it. */
    Watch watchAlone(Runnable free, Duration limit, Supplier<Runnable> stuck) {
        return watch(new Watch(this, () -> false, () -> {}, free, stuck, limit, true));
    }

    /** Nobody waits any longer for what these threads run: what they hold is freed, and whatever they still try throws. */
    public void end(Collection<Thread> threads) {
        for (Watch watch : running) {
            try {
                if (threads.contains(watch.handler)) {
                    watch.end();
                }
            } catch (Throwable failure) {
                Threads.survived(log, "What a handler holds that is too late could not be freed", failure);
            }
        }
    }

    private Watch watch(Watch watch) {
        if (closed) {
            throw new StoreException("The inbox is closed; deliver the message again", null);
        }
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
            for (Watch watch : running) {
                if (watch.due - now <= 0) {
                    pass(watch);
                }
                nap = Math.min(nap, Math.max(1, watch.due - now));
            }
            nextLook = now + nap;
            LockSupport.parkNanos(this, nap);
        }
    }

    /** Nothing may end the thread that all deadlines depend on. What could not be done is tried again. */
    private void pass(Watch watch) {
        try {
            watch.pass();
        } catch (Throwable failure) {
            watch.due = System.nanoTime() + LONGEST_NAP;
            Threads.survived(log, "A handler that is too late could not be ended; tried again", failure);
        }
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }

    /** One handler's deadline. */
    public static final class Watch {
        private final Deadlines deadlines;
        private final BooleanSupplier withdraw;
        private final Runnable abandon;
        private final Runnable free;
        private final Supplier<Runnable> stuck;
        private final boolean holding;
        private final Thread handler = Thread.currentThread();
        private volatile long due;
        private long lastLook;
        private boolean finished;
        private boolean fired;
        private boolean abandons;
        private boolean told;
        private boolean interrupted;
        private @Nullable Runnable rescue;

        private Watch(
                Deadlines deadlines,
                BooleanSupplier withdraw,
                Runnable abandon,
                Runnable free,
                Supplier<Runnable> stuck,
                Duration limit,
                boolean holding) {
            this.deadlines = deadlines;
            this.withdraw = withdraw;
            this.abandon = abandon;
            this.free = free;
            this.stuck = stuck;
            this.due = System.nanoTime() + limit.toNanos();
            this.holding = holding;
        }

        /** The deadline has passed, or the time after it. Whatever fails here is done again, and nothing is done twice. */
        private void pass() {
            if (!fired) {
                lastLook = System.nanoTime() + LONGEST_CANCEL;
                fire();
            } else if (abandons) {
                abandon();
            } else if (!told && System.nanoTime() - lastLook < 0) {
                tell();
            } else {
                giveUp();
                deadlines.running.remove(this);
                return;
            }
            due = System.nanoTime() + (told ? GRACE : CANCEL_LOOK);
        }

        void fire() {
            synchronized (this) {
                if (finished) {
                    return;
                }
                fired = true;
                abandons = true;
                abandons = tell() || !holding;
            }
            abandon();
        }

        /** As at the deadline; it was interrupted before. */
        private void end() {
            synchronized (this) {
                if (finished) {
                    return;
                }
                fired = true;
                told = !withdraw.getAsBoolean();
            }
            Threads.start("idem-abandon", false, free);
        }

        /** Tells the handler to end; not inside a call, which is true then. */
        private synchronized boolean tell() {
            boolean inCall = withdraw.getAsBoolean();
            if (!inCall && !finished) {
                told = true;
                if (!handler.isInterrupted()) {
                    interrupted = true;
                    handler.interrupt(); // under the lock, so that it cannot hit what the thread does next
                }
            }
            return inCall;
        }

        /** Tearing down may wait for the database; the deadlines of other handlers must not. */
        private void abandon() {
            if (abandons) {
                Threads.start("idem-abandon", false, abandon);
                abandons = false;
            }
        }

        private void giveUp() {
            synchronized (this) {
                if (finished && rescue == null) {
                    return;
                }
                if (rescue == null) {
                    rescue = stuck.get();
                }
            }
            Threads.start("idem-rescue", false, rescue);
        }

        /**
         * Ends the watch; true when the handler was too late. Our own interrupt is taken back. One that was there before
         * it is a request to stop, and stays; one that came after it cannot be told from it.
         */
        public boolean finish() {
            deadlines.running.remove(this);
            synchronized (this) {
                finished = true;
                if (interrupted) {
                    interrupted = false;
                    Thread.interrupted();
                }
                return fired;
            }
        }
    }
}
