package dev.idem.cli;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How long ago, as people type it: 90s, 15m, 2h, 7d, or as ISO 8601 has it. */
public final class Age {
    private static final Pattern SIMPLE = Pattern.compile("(\\d{1,9})(s|m|h|d)");

    private Age() {}

    /**
     * Reads an age.
     *
     * @throws DateTimeParseException if it is none
     */
    public static Duration parse(String text) {
        Matcher simple = SIMPLE.matcher(text);
        if (!simple.matches()) {
            return Duration.parse(text);
        }
        long number = Long.parseLong(simple.group(1));
        return switch (simple.group(2)) {
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofDays(number);
        };
    }
}
