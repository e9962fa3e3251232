package dev.idem.jdbc.internal.sql;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** What waits for other threads have in common, and what threads in the background do. */
public final class Threads {
    private Threads() {}

    /** Says that a background thread goes on after something that would have ended it; fails in no way. */
    public static void survived(Logger log, Object whose, String what, Throwable failure) {
        try {
            if (failure instanceof Error) {
                log.error("{}: {}", whose, what, failure);
            } else {
                log.debug("{}: {}", whose, what, failure);
            }
        } catch (Throwable silenced) {
            // no memory even for a log line: going on is all that is left
        }
    }

    /** Waits for a thread's end, not for ever; an interrupt ends the wait and is kept. */
    public static void join(@Nullable Thread thread, long millis) {
        if (thread != null && thread != Thread.currentThread()) {
            try {
                thread.join(millis);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits until nobody holds a lock; false when somebody does for longer. */
    public static boolean isFree(ReentrantLock lock, Duration limit) {
        try {
            if (!lock.tryLock() && !lock.tryLock(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                return false;
            }
            lock.unlock();
            return true;
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
