package dev.idem.bench;

import dev.idem.bench.contender.Contender;
import dev.idem.bench.contender.Contenders;
import dev.idem.bench.contender.IdemSetup;
import dev.idem.bench.load.Workload;
import dev.idem.bench.report.Comparison;
import dev.idem.bench.report.Row;
import dev.idem.bench.report.Target;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** What is won when messages share a commit, and what failing neighbours and duplicates do to it. */
final class BatchBench implements Bench {
    private static final int BATCH = 500;
    private static final String FRESH = "batch";
    private static final String CARRIED = "batch-carried";
    private static final String FAILING = "batch-failing";
    private static final String DUPLICATES = "batch-duplicates";

    @Override
    public List<Row> run(Lab lab) throws Exception {
        DataSource dataSource = lab.dataSource();
        List<Row> rows = new ArrayList<>();
        List<String> references = List.of("floor-batch", "hand-batch-each", "idem-batch", "hand", Comparison.BEST_PEER);
        for (int threads : lab.settings().quick() ? new int[] {4} : new int[] {4, 1}) {
            rows.addAll(measured(lab, new Workload(FRESH, threads, 0, BATCH), everyone(dataSource), references));
        }
        for (int threads : lab.settings().quick() ? new int[] {4} : new int[] {4, 1}) {
            rows.addAll(measured(
                    lab, new Workload(CARRIED, threads, 0, BATCH), carried(dataSource), List.of("idem-apart")));
        }
        rows.addAll(measured(lab, new Workload(FAILING, 4, 0, BATCH), failing(dataSource), List.of("idem")));
        rows.addAll(measured(
                lab,
                new Workload(DUPLICATES, 4, 100, BATCH),
                known(dataSource),
                List.of("hand", Comparison.BEST_PEER)));
        return rows;
    }

    private static List<Row> measured(Lab lab, Workload workload, List<Contender> contenders, List<String> references)
            throws Exception {
        try {
            List<String> names = contenders.stream().map(Contender::name).toList();
            lab.rounds().warmUp(workload, contenders, lab.settings().warmUp());
            var measured = lab.rounds().run(workload, contenders);
            return new Comparison(workload, measured).rates(names, references, Contenders.PEERS);
        } finally {
            contenders.forEach(Contender::close);
        }
    }

    private static List<Contender> everyone(DataSource dataSource) throws SQLException {
        List<Contender> contenders = new ArrayList<>(Contenders.batchReferences(dataSource));
        contenders.addAll(Contenders.oneByOne(dataSource));
        contenders.add(Contenders.idemBatch(IdemSetup.fresh("idem-batch", dataSource)));
        contenders.add(Contenders.idemDeferred(IdemSetup.fresh("idem-deferred", dataSource)));
        contenders.add(Contenders.idemEach(IdemSetup.fresh("idem", dataSource), 0));
        return contenders;
    }

    private static List<Contender> carried(DataSource dataSource) {
        return List.of(
                Contenders.idemEach(IdemSetup.fresh("idem", dataSource), 0),
                Contenders.idemApart(IdemSetup.fresh("idem-apart", dataSource)));
    }

    private static List<Contender> failing(DataSource dataSource) {
        return List.of(
                Contenders.idemEach(IdemSetup.fresh("idem", dataSource), 0),
                Contenders.idemEach(IdemSetup.fresh("idem-failing-1", dataSource), 1),
                Contenders.idemEach(IdemSetup.fresh("idem-failing-5", dataSource), 5));
    }

    private static List<Contender> known(DataSource dataSource) throws SQLException {
        List<Contender> contenders = new ArrayList<>(Contenders.oneByOne(dataSource));
        contenders.add(Contenders.idemEach(IdemSetup.fresh("idem", dataSource), 0));
        return contenders;
    }

    @Override
    public List<Target> targets(Settings settings) {
        return List.of(
                Target.atLeast(FRESH, "idem-batch", 0.55, "floor-batch"),
                Target.atLeast(FRESH, "idem-batch", 15, Comparison.BEST_PEER),
                Target.atLeast(FRESH, "idem-deferred", 0.8, "idem-batch"),
                Target.atLeast(FRESH, "idem", 5, Comparison.BEST_PEER),
                Target.atLeast(FRESH, "idem", 0.9, "hand-batch-each"),
                Target.atLeast(CARRIED, "idem", 1.1, "idem-apart"),
                Target.atLeast(FAILING, "idem-failing-1", 0.9, "idem"),
                Target.atLeast(FAILING, "idem-failing-5", 0.9, "idem"),
                Target.atLeast(DUPLICATES, "idem", 17, Comparison.BEST_PEER));
    }

    @Override
    public boolean isPlotted(Row row) {
        return row.name().equals(FAILING) || row.reference().equals("hand");
    }
}
