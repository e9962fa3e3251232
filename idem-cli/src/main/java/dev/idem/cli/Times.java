package dev.idem.cli;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Times for people, as they type them: see {@link Age}. For machines they stay as ISO 8601 has them. */
public final class Times {
    private Times() {}

    /** To the second, in UTC. */
    public static String of(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** Its two largest units: 3d 4h, 7m 12s, 4s; below ten seconds with milliseconds where there are any. */
    public static String of(Duration length) {
        if (length.isNegative()) {
            return "0s";
        }
        if (length.toDays() > 0) {
            return both(length.toDays(), "d", length.toHoursPart(), "h");
        }
        if (length.toHours() > 0) {
            return both(length.toHours(), "h", length.toMinutesPart(), "m");
        }
        if (length.toMinutes() > 0) {
            return both(length.toMinutes(), "m", length.toSecondsPart(), "s");
        }
        return length.toSeconds() < 10
                ? both(length.toSeconds(), "s", length.toMillisPart(), "ms")
                : length.toSeconds() + "s";
    }

    private static String both(long large, String unit, long small, String smallUnit) {
        if (small == 0) {
            return large + unit;
        }
        return large == 0 ? small + smallUnit : large + unit + " " + small + smallUnit;
    }
}
