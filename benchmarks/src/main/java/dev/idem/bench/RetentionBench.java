package dev.idem.bench;

import dev.idem.bench.contender.Contender;
import dev.idem.bench.contender.Contenders;
import dev.idem.bench.contender.IdemSetup;
import dev.idem.bench.contender.Markers;
import dev.idem.bench.load.Measurement;
import dev.idem.bench.load.Workload;
import dev.idem.bench.report.Comparison;
import dev.idem.bench.report.Row;
import dev.idem.bench.report.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** What those who process messages feel of a sweep: the 99th percentile of their calls during it, and without one. */
final class RetentionBench implements Bench {
    private static final String NAME = "p99-during-retention";
    private static final String SWEPT = "idem";
    private static final String QUIET = "idem-without-retention";
    private static final String PREFIX = "swept_";
    private static final int MOST_ROUNDS = 5;

    @Override
    public List<Row> run(Lab lab) throws Exception {
        int expired = lab.settings().quick() ? 50_000 : 1_000_000;
        int rounds = lab.settings().quick()
                ? 1
                : Math.min(MOST_ROUNDS, lab.settings().rounds());
        var markers = new Markers(lab.dataSource(), PREFIX);
        var workload = new Workload(NAME, 4, 0, 1);
        List<Measurement> quiet = new ArrayList<>();
        List<Measurement> swept = new ArrayList<>();
        try (Contender idem = Contenders.idem(new IdemSetup(SWEPT, lab.dataSource(), PREFIX, List.of()))) {
            lab.load().measure(idem, workload, lab.settings().warmUp());
            for (int round = 1; round <= rounds; round++) {
                lab.progress().accept(workload + ": round " + round + " of " + rounds);
                markers.fill(expired, false, "8 days", lab.progress());
                markers.settle();
                CompletableFuture<Long> sweep = CompletableFuture.supplyAsync(markers::sweep);
                swept.add(lab.load().measure(idem, workload, elapsed -> !sweep.isDone()));
                if (sweep.get() != expired) {
                    throw new IllegalStateException(
                            "of " + expired + " expired markers " + sweep.get() + " were removed");
                }
                quiet.add(
                        lab.load().measure(idem, workload, lab.settings().time().multipliedBy(4)));
            }
        }
        return List.of(new Comparison(workload, Map.of(SWEPT, swept, QUIET, quiet)).p99(NAME, SWEPT, QUIET));
    }

    @Override
    public List<Target> targets(Settings settings) {
        return List.of(Target.atMost(NAME, SWEPT, 2, QUIET));
    }

    @Override
    public boolean isPlotted(Row row) {
        return true;
    }
}
