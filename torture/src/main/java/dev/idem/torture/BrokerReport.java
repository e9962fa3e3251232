package dev.idem.torture;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The end of a campaign with a real broker.
 *
 * @param publications what the broker was told to keep, duplicates included; retries of the publisher are not counted
 * @param duplicates how many of the publications repeated a message
 * @param deliveries messages that came to an inbox, repetitions included
 * @param cuts connections that were cut, of the database and of the broker
 * @param poison messages that never succeed, and must be set aside
 * @param letterOutages how often the broker took no dead letters for a while
 * @param letters what was set aside; after a crash some may be there twice
 * @param astray letters of messages that have their effect
 * @param lost messages that have neither effect nor letter
 * @param orderChecked whether the set-up promises order; else none can be out of it
 * @param unpublished messages that the broker never confirmed; then the campaign has failed as well
 */
record BrokerReport(
        String broker,
        long seed,
        @Nullable String defect,
        double seconds,
        int messages,
        int publications,
        int duplicates,
        long deliveries,
        int consumerKills,
        int pauses,
        int brokerKills,
        int cuts,
        int poison,
        int letterOutages,
        int letters,
        int astray,
        int lost,
        int doubled,
        int outOfOrder,
        boolean orderChecked,
        int unpublished,
        String repeat)
        implements Report {
    @Override
    public boolean isFlawless() {
        return lost == 0 && doubled == 0 && outOfOrder == 0 && astray == 0 && unpublished == 0;
    }

    @Override
    public Map<String, Long> rows() {
        Map<String, Long> rows = new LinkedHashMap<>();
        rows.put("messages", (long) messages);
        rows.put("published again", (long) duplicates);
        rows.put("deliveries", deliveries);
        rows.put("consumer kills", (long) consumerKills);
        rows.put("pauses beyond the session", (long) pauses);
        rows.put("broker kills", (long) brokerKills);
        rows.put("connections cut", (long) cuts);
        if (poison > 0) {
            rows.put("poisonous", (long) poison);
            rows.put("times without letters", (long) letterOutages);
            rows.put("letters", (long) letters);
            rows.put("letters astray", (long) astray);
        }
        rows.put("lost", (long) lost);
        rows.put("doubled", (long) doubled);
        rows.put(orderChecked ? "out of order" : "out of order, not checked", (long) outOfOrder);
        if (unpublished > 0) {
            rows.put("never published", (long) unpublished);
        }
        return rows;
    }

    @Override
    public String promise() {
        String once = "Every message has taken effect exactly once" + (orderChecked ? ", and in order" : "");
        return once + (poison > 0 ? ", or has its letter." : ".");
    }
}
