package dev.idem.bench.load;

import java.util.Arrays;
import java.util.List;

/**
 * One measurement of one contender.
 *
 * @param p99Micros the 99th percentile of the time of a call, in which a whole batch is handled
 */
public record Measurement(double perSecond, double p99Micros) {
    static Measurement of(List<Tally> tallies) {
        double rate = tallies.stream().mapToDouble(Tally::perSecond).sum();
        long[] latencies = tallies.stream()
                .flatMapToLong(tally -> Arrays.stream(tally.latencies()))
                .sorted()
                .toArray();
        int rank = (int) Math.ceil(0.99 * latencies.length) - 1;
        return new Measurement(rate, latencies[Math.max(0, rank)] / 1e3);
    }
}
