package dev.idem.internal.incident;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Lets the first few of many similar incidents pass in each minute, and counts the others. Bounded; thread-safe. */
final class Similar {
    static final int FEW = 5;
    static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final int MOST = 200;

    /** For all that come when so many different ones are known. */
    private static final String REST = "";

    private final LongSupplier clock;
    private final Map<String, Count> counts = new LinkedHashMap<>();

    /** @param clock in nanoseconds, as {@link System#nanoTime} */
    Similar(LongSupplier clock) {
        this.clock = clock;
    }

    /**
     * What to do with one of them.
     *
     * @param passes whether it is told
     * @param suppressed how many were not told since the last one that was
     * @param last whether the next ones of this minute are not told
     */
    record Turn(boolean passes, long suppressed, boolean last) {}

    synchronized Turn next(String likeness) {
        long now = clock.getAsLong();
        Count count = counts.get(likeness);
        if (count == null) {
            forgetOld(now);
            String place = counts.size() < MOST ? likeness : REST;
            count = counts.computeIfAbsent(place, none -> new Count(now));
        }
        if (now - count.began >= WINDOW_NANOS) {
            count.began = now;
            count.passed = 0;
        }
        if (count.passed == FEW) {
            count.suppressed++;
            return new Turn(false, 0, false);
        }
        count.passed++;
        long untold = count.suppressed;
        count.suppressed = 0;
        return new Turn(true, untold, count.passed == FEW);
    }

    /** What was counted and never told, by likeness; it is forgotten now. */
    synchronized Map<String, Long> untold(boolean all) {
        long now = clock.getAsLong();
        Map<String, Long> untold = new LinkedHashMap<>();
        counts.forEach((likeness, count) -> {
            if (count.suppressed > 0 && (all || now - count.began >= WINDOW_NANOS)) {
                untold.put(likeness, count.suppressed);
                count.suppressed = 0;
            }
        });
        return untold;
    }

    private void forgetOld(long now) {
        for (Iterator<Count> each = counts.values().iterator(); each.hasNext(); ) {
            Count count = each.next();
            if (count.suppressed == 0 && now - count.began >= WINDOW_NANOS) {
                each.remove();
            }
        }
    }

    private static final class Count {
        private long began;
        private int passed;
        private long suppressed;

        private Count(long began) {
            this.began = began;
        }
    }
}
