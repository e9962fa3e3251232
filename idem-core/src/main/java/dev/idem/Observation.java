package dev.idem;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What observe mode has seen of one consumer: what Idem would have done, had it decided. A snapshot; immutable.
 *
 * @param since how long this inbox has been observing
 * @param deliveries all deliveries, whatever became of them
 * @param duplicates deliveries of a key that was done already; their handler ran again
 * @param conflicts deliveries of a key that was done with another payload
 * @param busy deliveries that waited for another one of the same key, for longer than {@code busyWait}
 * @param unusableKeys deliveries without a key, or with one that cannot be used
 * @param undecidable deliveries older than the horizon
 * @param lags how many duplicates and conflicts came at most so long after the first delivery was done, and later than
 *     the entry before; the last entry has no upper end
 * @param longestLag the longest of them
 */
public record Observation(
        String consumer,
        Duration since,
        long deliveries,
        long duplicates,
        long conflicts,
        long busy,
        long unusableKeys,
        long undecidable,
        SortedMap<Duration, Long> lags,
        Optional<Duration> longestLag) {
    /** Stands in {@link #lags} for "longer than all others". */
    public static final Duration OPEN_END = Duration.ofSeconds(Long.MAX_VALUE);

    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration WEEK = Duration.ofDays(7);

    public Observation {
        lags = Collections.unmodifiableSortedMap(new TreeMap<>(lags));
    }

    /**
     * The window to begin with: twice the longest lag, rounded up to whole days, and at least a day. As long as less than
     * a week was observed it is at least a week, for a lag that takes longer than the observation is rarely seen. Replays
     * and dead letters that have not come yet are not in it: add them.
     */
    public Duration recommendedWindow() {
        Duration twice = longestLag.orElse(Duration.ZERO).multipliedBy(2);
        long days = twice.toDays() + (twice.equals(twice.truncatedTo(ChronoUnit.DAYS)) ? 0 : 1);
        Duration floor = since.compareTo(WEEK) < 0 ? WEEK : DAY;
        Duration seen = Duration.ofDays(days);
        return seen.compareTo(floor) < 0 ? floor : seen;
    }

    /** A table to read. */
    @Override
    public String toString() {
        StringBuilder table = new StringBuilder(
                String.format("%s, observed for %s%n", consumer, since.truncatedTo(ChronoUnit.SECONDS)));
        line(table, "deliveries", deliveries);
        line(table, "would be duplicates", duplicates);
        line(table, "would be conflicts", conflicts);
        line(table, "would be busy", busy);
        line(table, "without a usable key", unusableKeys);
        line(table, "older than the horizon", undecidable);
        table.append(String.format("  came again after%n"));
        Duration from = Duration.ZERO;
        for (var entry : lags.entrySet()) {
            String label = entry.getKey().equals(OPEN_END) ? "> " + from : "<= " + entry.getKey();
            line(table, "  " + label, entry.getValue());
            from = entry.getKey();
        }
        table.append(String.format(
                "  recommended window       %s days", recommendedWindow().toDays()));
        return table.toString();
    }

    private static void line(StringBuilder table, String label, long count) {
        table.append(String.format("  %-24s %,d%n", label, count));
    }
}
