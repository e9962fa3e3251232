package dev.idem.broker;

import dev.idem.IdemException;
import java.util.concurrent.TimeUnit;

/** Lets so many pass each second, evenly. Used by one thread. */
final class Rate {
    private final long nanosBetween;
    private long next = System.nanoTime();

    Rate(long perSecond) {
        nanosBetween = TimeUnit.SECONDS.toNanos(1) / perSecond;
    }

    void await() {
        long wait = next - System.nanoTime();
        if (wait > 0) {
            try {
                TimeUnit.NANOSECONDS.sleep(wait);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                throw new IdemException("Interrupted; what was sent is sent, run it again for the rest", stop);
            }
        }
        next = Math.max(next, System.nanoTime() - nanosBetween) + nanosBetween;
    }
}
