package dev.idem.internal.outbox;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Wakes the workers of this process when something was stored, so that they need not look all the time. Thread-safe. */
public final class WorkerSignals {
    private static final int MOST_RINGS = 1_000;

    private final ConcurrentMap<String, Signal> signals = new ConcurrentHashMap<>();

    public Signal of(String consumer) {
        return signals.computeIfAbsent(consumer, c -> new Signal());
    }

    public void ringAll() {
        signals.values().forEach(signal -> signal.ring(MOST_RINGS));
    }

    /** One consumer's signal: each ring wakes one worker, now or the next time it would wait. */
    public static final class Signal {
        private final Semaphore rings = new Semaphore(0);
        private final AtomicInteger waiting = new AtomicInteger();

        /** Answers whether so many were waiting: then nobody else is needed. */
        public boolean ring(int workers) {
            boolean enough = waiting.get() >= workers;
            int missing = Math.min(workers, MOST_RINGS) - rings.availablePermits();
            if (missing > 0) {
                rings.release(missing);
            }
            return enough;
        }

        /** Waits for a ring; true if there was one. */
        public boolean await(Duration longest) throws InterruptedException {
            waiting.incrementAndGet();
            try {
                return rings.tryAcquire(longest.toNanos(), TimeUnit.NANOSECONDS);
            } finally {
                waiting.decrementAndGet();
            }
        }
    }
}
