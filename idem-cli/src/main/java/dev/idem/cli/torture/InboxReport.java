package dev.idem.cli.torture;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The end of a campaign of the inbox.
 *
 * @param deliveries of single messages, repetitions included
 * @param duplicates how many of the deliveries repeated a message
 * @param cuts connections that were cut
 * @param held messages behind one that is parked, so that they wait
 * @param unacknowledged messages that could not be stored until the end; then the campaign has failed as well
 */
record InboxReport(
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
        String repeat)
        implements Report {
    @Override
    public boolean isFlawless() {
        return lost == 0
                && doubled == 0
                && outOfOrder == 0
                && unacknowledged == 0
                && parked == parkedPlanned
                && held == heldPlanned;
    }

    @Override
    public Map<String, Long> rows() {
        Map<String, Long> rows = new LinkedHashMap<>();
        rows.put("messages", (long) messages);
        rows.put("deliveries", deliveries);
        rows.put("JVM kills", (long) jvmKills);
        rows.put("pauses beyond the lease", (long) pauses);
        rows.put("database kills", (long) databaseKills);
        rows.put("connections cut", (long) cuts);
        rows.put("parked, of " + parkedPlanned + " planned", parked);
        rows.put("held, of " + heldPlanned + " planned", held);
        rows.put("lost", (long) lost);
        rows.put("doubled", (long) doubled);
        rows.put("out of order", (long) outOfOrder);
        if (unacknowledged > 0) {
            rows.put("never accepted", (long) unacknowledged);
        }
        return rows;
    }

    @Override
    public String promise() {
        return "Every message has taken effect exactly once, and in order.";
    }
}
