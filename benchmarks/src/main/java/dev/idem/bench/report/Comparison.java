package dev.idem.bench.report;

import dev.idem.bench.load.Measurement;
import dev.idem.bench.load.Workload;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

/** Turns the measurements of one case into rows: each contender beside each reference. */
public final class Comparison {
    /** The peer with the highest median rate in the case. */
    public static final String BEST_PEER = "best-peer";

    private final Workload workload;
    private final Map<String, List<Measurement>> measured;

    public Comparison(Workload workload, Map<String, List<Measurement>> measured) {
        this.workload = workload;
        this.measured = measured;
    }

    /** By messages a second: above 1 the contender is faster. References that were not measured are left out. */
    public List<Row> rates(List<String> contenders, List<String> references, List<String> peers) {
        List<Row> rows = new ArrayList<>();
        for (String contender : contenders) {
            for (String reference : references) {
                String measuredAs = reference.equals(BEST_PEER) ? best(peers) : reference;
                if (!measuredAs.equals(contender) && measured.containsKey(measuredAs)) {
                    rows.add(row(workload.name(), contender, reference, measuredAs, Measurement::perSecond));
                }
            }
        }
        return rows;
    }

    /** By the time a message takes: above 1 the contender is slower. */
    public Row cost(String name, String contender, String reference) {
        return row(name, contender, reference, reference, measurement -> 1 / measurement.perSecond());
    }

    /** By the 99th percentile of the time of a call: above 1 the contender is slower. */
    public Row p99(String name, String contender, String reference) {
        return row(name, contender, reference, reference, Measurement::p99Micros);
    }

    /** By a percentile of the time from the store to the commit, with both percentiles told: above 1 is slower. */
    public List<Row> latencies(
            String name, List<String> contenders, List<String> references, ToDoubleFunction<Measurement> percentile) {
        List<Row> rows = new ArrayList<>();
        for (String contender : contenders) {
            for (String reference : references) {
                if (!reference.equals(contender)) {
                    rows.add(row(name, contender, reference, reference, percentile)
                            .withLatency(
                                    Ratio.median(values(contender, Measurement::p50Micros)),
                                    Ratio.median(values(contender, Measurement::p99Micros))));
                }
            }
        }
        return rows;
    }

    private String best(List<String> peers) {
        return peers.stream()
                .filter(measured::containsKey)
                .max(Comparator.comparingDouble(peer -> Ratio.median(values(peer, Measurement::perSecond))))
                .orElse("");
    }

    private Row row(
            String name, String contender, String reference, String measuredAs, ToDoubleFunction<Measurement> value) {
        Ratio ratio = Ratio.of(values(contender, value), values(measuredAs, value));
        return new Row(
                name,
                workload.threads(),
                workload.duplicates(),
                workload.batch(),
                contender,
                reference,
                ratio.median(),
                ratio.low(),
                ratio.high(),
                Ratio.median(values(contender, Measurement::perSecond)));
    }

    private List<Double> values(String contender, ToDoubleFunction<Measurement> value) {
        return Objects.requireNonNull(measured.get(contender), contender).stream()
                .map(value::applyAsDouble)
                .toList();
    }
}
