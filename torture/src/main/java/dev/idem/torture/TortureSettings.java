package dev.idem.torture;

import java.time.Duration;

/**
 * What a campaign is made of.
 *
 * @param length how long the stream and the mayhem last at least; afterwards everything is worked off
 * @param kills mayhem goes on until so many workers were killed, however slow the machine is
 * @param serverKills and the database or the broker was killed so often, and not once more: it takes its time to come back
 */
record TortureSettings(
        Subject subject,
        Duration length,
        long seed,
        int messages,
        int workers,
        int kills,
        int serverKills,
        Defect defect) {
    /** Then it ends in any case. */
    private static final Duration LEAST_BOUND = Duration.ofMinutes(10);

    private static final int BOUND_FACTOR = 3;

    /** More often, and nothing would get done between. */
    private static final Duration LEAST_BETWEEN_KILLS = Duration.ofSeconds(10);

    Duration betweenServerKills() {
        Duration even = length.dividedBy(serverKills + 1L);
        return even.compareTo(LEAST_BETWEEN_KILLS) < 0 ? LEAST_BETWEEN_KILLS : even;
    }

    Duration bound() {
        Duration bound = length.multipliedBy(BOUND_FACTOR);
        return bound.compareTo(LEAST_BOUND) < 0 ? LEAST_BOUND : bound;
    }

    boolean isPlanted() {
        return defect != Defect.NONE;
    }

    /** Several consumers of one queue have no order among them; partitions and a single consumer do. */
    boolean isOrdered() {
        return subject != Subject.RABBITMQ || workers == 1;
    }

    /** Whether messages are set aside. Consumers written by hand, for planted defects, cannot do that. */
    boolean hasPoison() {
        return (subject == Subject.KAFKA || subject == Subject.RABBITMQ) && !defect.isByHand();
    }

    String command() {
        return "./idem torture " + subject.label() + " --minutes " + length.toMillis() / 60_000.0 + " --seed " + seed
                + " --messages " + messages + " --workers " + workers + " " + subject.killsOption() + " " + kills + " "
                + subject.serverKillsOption() + " " + serverKills
                + (isPlanted() ? " --defect " + defect.label() : "");
    }
}
