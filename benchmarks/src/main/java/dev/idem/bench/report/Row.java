package dev.idem.bench.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import org.jspecify.annotations.Nullable;

/**
 * One contender beside one reference.
 *
 * @param ratio the contender's rate by the reference's, unless the case says that it compares something else
 * @param perSecond messages a second of the contender, the median of all rounds
 * @param p50Micros where latencies are compared: the contender's median, the median of all rounds
 * @param p99Micros and its 99th percentile
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
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
        double perSecond,
        @Nullable Double p50Micros,
        @Nullable Double p99Micros) {
    public Row(
            String name,
            int threads,
            int duplicates,
            int batch,
            String contender,
            String reference,
            double ratio,
            double low,
            double high,
            double perSecond) {
        this(name, threads, duplicates, batch, contender, reference, ratio, low, high, perSecond, null, null);
    }

    public Row {
        ratio = rounded(ratio);
        low = rounded(low);
        high = rounded(high);
        perSecond = Math.round(perSecond * 10) / 10.0;
    }

    Row withLatency(double p50, double p99) {
        return new Row(
                name,
                threads,
                duplicates,
                batch,
                contender,
                reference,
                ratio,
                low,
                high,
                perSecond,
                rounded(p50),
                rounded(p99));
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
