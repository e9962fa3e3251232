package dev.idem.cli.demo;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** Knows when the next kill is due. Used by one thread. */
final class Kills {
    /** A window that is not reached by then will not be; the kill comes all the same. */
    private static final long WINDOW_NANOS = Duration.ofSeconds(2).toNanos();

    private final Deque<Kill> coming;
    private @Nullable Kill due;
    private boolean armed;
    private long dueAt;
    private int done;

    Kills(DemoPlan plan) {
        coming = new ArrayDeque<>(plan.kills());
    }

    int done() {
        return done;
    }

    void advance(int settled, long now) {
        Kill next = coming.peek();
        if (due == null && next != null && settled >= next.afterSettled()) {
            due = coming.remove();
            dueAt = now
                    + (next.window() == CrashWindow.NONE
                            ? Duration.ofMillis(next.delayMillis()).toNanos()
                            : WINDOW_NANOS);
        }
    }

    /** The window in which the next delivery, which is fresh, has to stop. */
    CrashWindow arm() {
        if (due == null || armed) {
            return CrashWindow.NONE;
        }
        armed = due.window() != CrashWindow.NONE;
        return due.window();
    }

    boolean isOverdue(long now) {
        return due != null && now - dueAt >= 0;
    }

    void killed() {
        due = null;
        armed = false;
        done++;
    }
}
