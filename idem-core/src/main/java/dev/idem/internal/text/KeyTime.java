package dev.idem.internal.text;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The 48 bits in front of a time-ordered key: milliseconds since 1970. */
public final class KeyTime {
    private static final Instant END = Instant.ofEpochMilli(1L << 48);

    private KeyTime() {}

    public static boolean fits(Instant time) {
        return !time.isBefore(Instant.EPOCH) && time.isBefore(END);
    }

    /** Rounded down. */
    public static Instant toMillis(Instant time) {
        return time.truncatedTo(ChronoUnit.MILLIS);
    }

    /** The upper half of the smallest key of this time. */
    public static long prefix(Instant time) {
        return time.toEpochMilli() << 16;
    }
}
