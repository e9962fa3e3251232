package dev.idem.bench;

import dev.idem.bench.contender.Contender;
import dev.idem.bench.contender.Contenders;
import dev.idem.bench.contender.IdemSetup;
import dev.idem.bench.contender.Markers;
import dev.idem.bench.load.Workload;
import dev.idem.bench.report.Comparison;
import dev.idem.bench.report.Row;
import dev.idem.bench.report.Target;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Whether a message costs more when the marker table has grown, and how many bytes a marker takes. */
final class GrowthBench implements Bench {
    private static final String BYTES = "bytes-per-marker";
    private static final String GROWN = "idem";
    private static final String EMPTY = "idem-empty";
    private static final int BATCH = 500;

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
        DataSource dataSource = lab.dataSource();
        var full = new IdemSetup(GROWN, dataSource, prefix, List.of());
        var empty = new IdemSetup(
                EMPTY, dataSource, prefix + "empty_", List.of(prefix + "empty_marker", prefix + "empty_retention"));
        var markers = new Markers(dataSource, prefix);
        List<Contender> single = List.of(Contenders.idem(full), Contenders.idem(empty));
        List<Contender> batch = List.of(Contenders.idemDeferred(full), Contenders.idemDeferred(empty));
        try {
            markers.fill(size, timeOrdered, "1 day", lab.progress());
            List<Row> rows = new ArrayList<>();
            rows.add(bytes(markers, timeOrdered));
            markers.settle();
            rows.add(cost(lab, new Workload(name(size, timeOrdered), 4, 0, 1, timeOrdered), single));
            rows.add(cost(lab, new Workload(name(size, timeOrdered), 4, 0, BATCH, timeOrdered), batch));
            return rows;
        } finally {
            single.forEach(Contender::close);
            batch.forEach(Contender::close);
        }
    }

    private static Row cost(Lab lab, Workload workload, List<Contender> contenders) throws Exception {
        lab.rounds().warmUp(workload, contenders, lab.settings().warmUp());
        return new Comparison(workload, lab.rounds().run(workload, contenders)).cost(workload.name(), GROWN, EMPTY);
    }

    /** The ratio of this case is the number of bytes itself. */
    private static Row bytes(Markers markers, boolean timeOrdered) throws Exception {
        double bytes = markers.bytesEach();
        return new Row(
                timeOrdered ? BYTES + "-time-ordered" : BYTES, 1, 0, 1, GROWN, "one-byte", bytes, bytes, bytes, 0);
    }

    private static String name(int size, boolean timeOrdered) {
        return "cost-at-" + size + (timeOrdered ? "-time-ordered" : "");
    }

    @Override
    public List<Target> targets(Settings settings) {
        return List.of(
                Target.atMost(name(size(settings, 5_000_000), false), GROWN, 1.25, EMPTY),
                Target.atMost(name(size(settings, 10_000_000), true), GROWN, 1.15, EMPTY),
                Target.atMost(BYTES, GROWN, 100, "one-byte"),
                Target.atMost(BYTES + "-time-ordered", GROWN, 100, "one-byte"));
    }

    @Override
    public boolean isPlotted(Row row) {
        return row.reference().equals(EMPTY);
    }
}
