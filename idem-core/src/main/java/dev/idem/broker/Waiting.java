package dev.idem.broker;

import java.time.Instant;
import java.util.Objects;

/**
 * What a listener waits for.
 *
 * @param what names it: {@code the store}, {@code topic orders}, {@code dead letters}
 * @param since when it was first missed
 * @param why what the broker, its client or the database said
 */
public record Waiting(String what, Instant since, String why) {
    public Waiting {
        Objects.requireNonNull(what, "what");
        Objects.requireNonNull(since, "since");
        Objects.requireNonNull(why, "why");
    }

    @Override
    public String toString() {
        return "waits for " + what + " since " + since + ": " + why;
    }
}
