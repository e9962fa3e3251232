package dev.idem.internal.incident;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Remembers what was told of late, so that the tenth failure of a message is not told as its first. Bounded; thread-safe. */
final class Recent {
    static final long FORGOTTEN_NANOS = TimeUnit.MINUTES.toNanos(10);

    private static final int MOST = 1_000;

    private final LongSupplier clock;
    private final Map<String, Long> told = new LinkedHashMap<>(16, 0.75f, true);

    /** @param clock in nanoseconds, as {@link System#nanoTime} */
    Recent(LongSupplier clock) {
        this.clock = clock;
    }

    /** Whether it was here before and not long ago. From now on it was. */
    synchronized boolean isKnown(String name) {
        long now = clock.getAsLong();
        Long before = told.put(name, now);
        if (told.size() > MOST) {
            told.remove(told.keySet().iterator().next());
        }
        return before != null && now - before < FORGOTTEN_NANOS;
    }
}
