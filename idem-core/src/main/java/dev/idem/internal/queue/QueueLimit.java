package dev.idem.internal.queue;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Whether a queue is full. Counted by one thread at a time; the others go by what was counted last. Thread-safe. */
final class QueueLimit {
    private final Duration fresh;
    private final ReentrantLock counting = new ReentrantLock();
    private volatile @Nullable Counted last;

    QueueLimit(Duration fresh) {
        this.fresh = fresh;
    }

    /** Before the first count nothing is known, and nobody but the one who counts waits for it. */
    boolean get(BooleanSupplier count) {
        Counted known = last;
        if ((known != null && known.isFresh()) || !counting.tryLock()) {
            return known != null && known.full;
        }
        try {
            Counted now = last;
            if (now == null || !now.isFresh()) {
                now = new Counted(count.getAsBoolean(), System.nanoTime() + fresh.toNanos());
                last = now;
            }
            return now.full;
        } finally {
            counting.unlock();
        }
    }

    private record Counted(boolean full, long until) {
        boolean isFresh() {
            return System.nanoTime() - until < 0;
        }
    }
}
