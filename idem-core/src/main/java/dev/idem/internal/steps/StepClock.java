package dev.idem.internal.steps;

import dev.idem.HandlerTimeoutException;
import dev.idem.internal.unit.Deadlines;
import dev.idem.internal.unit.InboxContext;
import dev.idem.spi.MarkerKey;
import java.time.Duration;
import java.util.List;

/**
 * The time a handler with steps has, all steps together. When it is up, a call to somebody outside is interrupted; a
 * statement on its way never is, because some databases run in the handler's thread and lose their files to that.
 */
final class StepClock {
    private final InboxContext context;
    private final MarkerKey key;
    private final Duration limit;
    private final long due;
    private final Deadlines.Watch watch;
    private boolean late;
    private boolean inStore;

    StepClock(InboxContext context, MarkerKey key, Duration limit) {
        this.context = context;
        this.key = key;
        this.limit = limit;
        this.due = System.nanoTime() + limit.toNanos();
        Thread thread = Thread.currentThread();
        this.watch = context.deadlines()
                .watch(this::isUp, () -> {}, limit, () -> context.stuck(List.of(key), limit, thread, () -> {}));
    }

    /** Answers whether the thread must not be interrupted. After that it cannot enter the store any more. */
    private synchronized boolean isUp() {
        late = true;
        return inStore;
    }

    Duration left() {
        return Duration.ofNanos(Math.max(1_000_000, due - System.nanoTime()));
    }

    /** From here to {@link #leave} the store is used. */
    synchronized void enter() {
        if (late) {
            throw tooLate();
        }
        inStore = true;
    }

    /** The same for what must be written even now: what is known of a call that was made. */
    void enterEvenLate() {
        synchronized (this) {
            if (!late) {
                inStore = true;
                return;
            }
        }
        watch.finish(); // after this the interrupt has come, and is taken back
    }

    synchronized void leave() {
        inStore = false;
    }

    /** The handler has returned; true when it was too late. */
    boolean finish() {
        return watch.finish() || isLate();
    }

    synchronized boolean isLate() {
        return late;
    }

    HandlerTimeoutException tooLate() {
        return context.tooLate(key, limit, null);
    }
}
