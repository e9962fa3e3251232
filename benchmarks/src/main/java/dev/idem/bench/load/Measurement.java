package dev.idem.bench.load;

import java.util.Arrays;
import java.util.List;

/**
 * One measurement of one contender.
 *
 * @param p50Micros the median of the time of a call, in which a whole batch is handled
 * @param p99Micros its 99th percentile
 */
public record Measurement(double perSecond, double p50Micros, double p99Micros) {
    static Measurement of(List<Tally> tallies) {
        double rate = tallies.stream().mapToDouble(Tally::perSecond).sum();
        return of(
                rate,
                tallies.stream()
                        .flatMapToLong(tally -> Arrays.stream(tally.latencies()))
                        .toArray());
    }

    static Measurement of(double perSecond, long[] nanos) {
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        return new Measurement(perSecond, micros(sorted, 0.5), micros(sorted, 0.99));
    }

    private static double micros(long[] sorted, double share) {
        int rank = (int) Math.ceil(share * sorted.length) - 1;
        return sorted[Math.max(0, rank)] / 1e3;
    }
}
