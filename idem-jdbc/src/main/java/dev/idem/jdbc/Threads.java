package dev.idem.jdbc;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** What background threads have in common. */
final class Threads {
    private Threads() {}

    /** Says that a background thread goes on after something that would have ended it; fails in no way. */
    static void survived(Logger log, Object whose, String what, Throwable failure) {
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
    static void join(@Nullable Thread thread, long millis) {
        if (thread != null && thread != Thread.currentThread()) {
            try {
                thread.join(millis);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
