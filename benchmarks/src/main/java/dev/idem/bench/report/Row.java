package dev.idem.bench.report;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * One contender beside one reference.
 *
 * @param ratio the contender's rate by the reference's, unless the case says that it compares something else
 * @param perSecond messages a second of the contender, the median of all rounds
 */
public record Row(
        @JsonProperty("case") String name,
        int threads,
        int duplicates,
        int batch,
        String contender,
        String reference,
        double ratio,
        double low,
        double high,
        double perSecond) {
    public Row {
        ratio = rounded(ratio);
        low = rounded(low);
        high = rounded(high);
        perSecond = Math.round(perSecond * 10) / 10.0;
    }

    private static double rounded(double value) {
        return Math.round(value * 1_000) / 1_000.0;
    }

    /** What the row was measured under, for people. */
    String setting() {
        return threads + (threads == 1 ? " thread, " : " threads, ") + duplicates + " % duplicates"
                + (batch == 1 ? "" : ", batches of " + batch);
    }
}
