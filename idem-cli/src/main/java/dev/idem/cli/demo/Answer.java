package dev.idem.cli.demo;

import dev.idem.Settlement;
import java.util.Optional;

/** What a consumer tells the broker; a line of text on the consumer's stdout. */
sealed interface Answer {
    /** The consumer takes deliveries. */
    record Ready() implements Answer {}

    /** A delivery waits in its crash window. */
    record Reached(long tag) implements Answer {}

    /** A charge failed, as the plan wants it. */
    record Failed(long tag) implements Answer {}

    /** A delivery is settled. */
    record Settled(long tag, Settlement settlement, boolean duplicate) implements Answer {}

    /** Not sent: the consumer's stdout has ended. */
    record Gone() implements Answer {}

    default String line() {
        if (this instanceof Reached reached) {
            return "REACHED " + reached.tag;
        }
        if (this instanceof Failed failed) {
            return "FAILED " + failed.tag;
        }
        if (this instanceof Settled settled) {
            return "SETTLED " + settled.tag + " " + settled.settlement + " " + (settled.duplicate ? "old" : "new");
        }
        return "READY";
    }

    /** Empty for a line that a kill cut off: it was never sent, so its delivery is not settled. */
    static Optional<Answer> parse(String line) {
        String[] parts = line.split(" ", -1);
        if (line.equals("READY")) {
            return Optional.of(new Ready());
        }
        if (parts.length == 2 && parts[0].equals("REACHED")) {
            return Optional.of(new Reached(Long.parseLong(parts[1])));
        }
        if (parts.length == 2 && parts[0].equals("FAILED")) {
            return Optional.of(new Failed(Long.parseLong(parts[1])));
        }
        if (parts.length == 4 && parts[3].length() == 3) {
            return Optional.of(
                    new Settled(Long.parseLong(parts[1]), Settlement.valueOf(parts[2]), parts[3].equals("old")));
        }
        return Optional.empty();
    }
}
