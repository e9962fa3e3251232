package dev.idem.bench;

import dev.idem.bench.contender.Contender;
import dev.idem.bench.contender.Contenders;
import dev.idem.bench.contender.Markers;
import dev.idem.bench.load.Workload;
import dev.idem.bench.report.Comparison;
import dev.idem.bench.report.Row;
import dev.idem.bench.report.Target;
import java.util.ArrayList;
import java.util.List;

/** Whether a message costs more when the marker table has grown, and how many bytes a marker takes. */
final class GrowthBench implements Bench {
    private static final String BYTES = "bytes-per-marker";
    private static final String EMPTY = "idem-empty";

    @Override
    public List<Row> run(Lab lab) throws Exception {
        List<Row> rows = new ArrayList<>();
        rows.addAll(grown(lab, size(lab.settings(), 5_000_000), false));
        rows.addAll(grown(lab, size(lab.settings(), 10_000_000), true));
        return rows;
    }

    private static int size(Settings settings, int full) {
        return settings.quick() ? full / 50 : full;
    }

    private static List<Row> grown(Lab lab, int size, boolean timeOrdered) throws Exception {
        String prefix = timeOrdered ? "ordered_" : "random_";
        var markers = new Markers(lab.dataSource(), prefix);
        List<Contender> contenders = List.of(
                Contenders.idem("idem", lab.dataSource(), prefix),
                Contenders.idem(EMPTY, lab.dataSource(), prefix + "empty_", prefix + "empty_marker"));
        try {
            markers.fill(size, timeOrdered, "1 day", lab.progress());
            List<Row> rows = new ArrayList<>();
            rows.add(bytes(markers, timeOrdered));
            markers.settle();
            var workload = new Workload(name(size, timeOrdered), 4, 0, 1, timeOrdered);
            lab.rounds().warmUp(workload, contenders, lab.settings().warmUp());
            var measured = lab.rounds().run(workload, contenders);
            rows.add(new Comparison(workload, measured).cost(workload.name(), "idem", EMPTY));
            return rows;
        } finally {
            contenders.forEach(Contender::close);
        }
    }

    /** The ratio of this case is the number of bytes itself. */
    private static Row bytes(Markers markers, boolean timeOrdered) throws Exception {
        double bytes = markers.bytesEach();
        return new Row(
                timeOrdered ? BYTES + "-time-ordered" : BYTES, 1, 0, 1, "idem", "one-byte", bytes, bytes, bytes, 0);
    }

    private static String name(int size, boolean timeOrdered) {
        return "cost-at-" + size + (timeOrdered ? "-time-ordered" : "");
    }

    @Override
    public List<Target> targets(Settings settings) {
        return List.of(
                Target.atMost(name(size(settings, 5_000_000), false), "idem", 1.25, EMPTY),
                Target.atMost(name(size(settings, 10_000_000), true), "idem", 1.15, EMPTY),
                Target.atMost(BYTES, "idem", 100, "one-byte"),
                Target.atMost(BYTES + "-time-ordered", "idem", 100, "one-byte"));
    }

    @Override
    public boolean isPlotted(Row row) {
        return row.reference().equals(EMPTY);
    }
}
