package dev.idem.cli.torture;

import java.time.Duration;

/**
 * What a campaign is made of.
 *
 * @param length how long the stream and the mayhem last; afterwards everything is worked off
 */
record TortureSettings(Duration length, long seed, int messages, int workers, Defect defect) {
    private static final int KILLS_PER_MINUTE = 22;
    private static final double DATABASE_KILLS_PER_MINUTE = 2.4;

    /** Mayhem goes on until there were so many, in case that the machine is slow. */
    int jvmKills() {
        return (int) Math.max(1, KILLS_PER_MINUTE * minutes());
    }

    int databaseKills() {
        return (int) Math.max(1, DATABASE_KILLS_PER_MINUTE * minutes());
    }

    Duration betweenDatabaseKills() {
        return length.dividedBy(databaseKills() + 1L);
    }

    private double minutes() {
        return length.toMillis() / 60_000.0;
    }

    String command() {
        return "./idem torture inbox --minutes " + minutes() + " --seed " + seed + " --messages " + messages
                + " --workers " + workers + (defect == Defect.NONE ? "" : " --defect " + defect.label());
    }
}
