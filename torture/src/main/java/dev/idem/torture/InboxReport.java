package dev.idem.torture;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The end of a campaign of the inbox.
 *
 * @param deliveries of single messages, repetitions included
 * @param duplicates how many of the deliveries repeated a message
 * @param crashes workers that ended by themselves
 * @param calledTwice messages for which a provider was called once too often
 * @param stepsChanged messages that are parked since their handler was another one when they were half done
 * @param settled calls nobody knew the end of, until a person asked the provider
 * @param cuts connections that were cut
 * @param held messages behind one that is parked, so that they wait
 * @param clockJumps how often the clock of the database was set
 * @param unfinished messages that are neither done nor parked nor wait behind one that is
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
        int crashes,
        int databaseKills,
        int cuts,
        int clockJumps,
        int lost,
        int doubled,
        int calledTwice,
        int outOfOrder,
        long parked,
        int parkedPlanned,
        int stepsChanged,
        int settled,
        long held,
        int heldPlanned,
        long unfinished,
        int unacknowledged,
        String repeat)
        implements Report {
    @Override
    public boolean isFlawless() {
        return lost == 0
                && doubled == 0
                && calledTwice == 0
                && crashes == 0
                && outOfOrder == 0
                && unacknowledged == 0
                && unfinished == 0
                && parked == parkedPlanned + stepsChanged
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
        rows.put("jumps of the clock", (long) clockJumps);
        rows.put("parked, of " + parkedPlanned + " planned", parked - stepsChanged);
        rows.put("parked, code changed", (long) stepsChanged);
        rows.put("calls settled by a person", (long) settled);
        rows.put("held, of " + heldPlanned + " planned", held);
        rows.put("lost", (long) lost);
        rows.put("doubled", (long) doubled);
        rows.put("called twice", (long) calledTwice);
        rows.put("out of order", (long) outOfOrder);
        if (crashes > 0) {
            rows.put("workers that crashed", (long) crashes);
        }
        if (unfinished > 0) {
            rows.put("unfinished", unfinished);
        }
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
