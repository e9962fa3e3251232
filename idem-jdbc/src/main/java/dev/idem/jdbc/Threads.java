package dev.idem.jdbc;

import org.jspecify.annotations.Nullable;

/** Ends of threads. */
final class Threads {
    private Threads() {}

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
