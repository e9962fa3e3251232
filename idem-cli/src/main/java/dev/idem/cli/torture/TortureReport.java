package dev.idem.cli.torture;

import com.fasterxml.jackson.annotation.JsonIgnore;
import org.jspecify.annotations.Nullable;

/**
 * The end of a campaign, as it is printed and as it goes into JSON.
 *
 * @param deliveries of single messages, repetitions included
 * @param duplicates how many of the deliveries repeated a message
 * @param cuts connections that were cut
 * @param held messages behind one that is parked, so that they wait
 * @param unacknowledged messages that could not be stored until the end; then the campaign has failed as well
 */
record TortureReport(
        long seed,
        @Nullable String defect,
        double seconds,
        int messages,
        long deliveries,
        long duplicates,
        int jvmKills,
        int pauses,
        int databaseKills,
        int cuts,
        int lost,
        int doubled,
        int outOfOrder,
        long parked,
        int parkedPlanned,
        long held,
        int heldPlanned,
        int unacknowledged,
        String repeat) {
    @JsonIgnore
    boolean isFlawless() {
        return lost == 0
                && doubled == 0
                && outOfOrder == 0
                && unacknowledged == 0
                && parked == parkedPlanned
                && held == heldPlanned;
    }
}
