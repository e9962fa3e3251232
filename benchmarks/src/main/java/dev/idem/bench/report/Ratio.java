package dev.idem.bench.report;

import java.util.List;
import java.util.stream.IntStream;

/** The median of the ratios within each round, and how far they range. */
public record Ratio(double median, double low, double high) {
    /** Compares round by round: both lists have one value for each round, in the same order. */
    public static Ratio of(List<Double> values, List<Double> references) {
        if (values.size() != references.size() || values.isEmpty()) {
            throw new IllegalArgumentException(
                    values.size() + " values cannot be compared with " + references.size() + " references");
        }
        double[] sorted = IntStream.range(0, values.size())
                .mapToDouble(i -> values.get(i) / references.get(i))
                .sorted()
                .toArray();
        return new Ratio(medianOfSorted(sorted), sorted[0], sorted[sorted.length - 1]);
    }

    public static double median(List<Double> values) {
        return medianOfSorted(
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray());
    }

    private static double medianOfSorted(double[] sorted) {
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
