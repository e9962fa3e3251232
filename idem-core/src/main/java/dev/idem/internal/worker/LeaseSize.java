package dev.idem.internal.worker;

import java.time.Duration;

/**
 * How many messages a worker leases at once: as many as are handled in a moment, so that slow ones are shared among all
 * workers that have nothing to do, and quick ones do not pay for a lease each. Begins with one and learns. Shared by the
 * workers of a consumer. Thread-safe.
 */
final class LeaseSize {
    private static final long MOMENT = Duration.ofMillis(50).toNanos();

    private final int most;
    private int size = 1;

    LeaseSize(int most) {
        this.most = most;
    }

    synchronized int get() {
        return size;
    }

    /** How long a batch may take until it is slow: the others of it are given back then. */
    static long slow() {
        return 4 * MOMENT;
    }

    /** A batch is slow, and has not ended yet. */
    synchronized void isSlow() {
        size = 1;
    }

    /** So many were handled in so much time. Grows by doubling, and shrinks at once. */
    synchronized void took(int messages, long nanos) {
        long fitting = Math.max(1, MOMENT / Math.max(1, nanos / Math.max(1, messages)));
        size = (int) Math.min(most, Math.min(fitting, 2L * size));
    }
}
