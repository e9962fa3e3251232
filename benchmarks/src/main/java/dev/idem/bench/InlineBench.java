package dev.idem.bench;

import dev.idem.bench.contender.Contender;
import dev.idem.bench.contender.Contenders;
import dev.idem.bench.load.Workload;
import dev.idem.bench.report.Comparison;
import dev.idem.bench.report.Row;
import dev.idem.bench.report.Target;
import java.util.ArrayList;
import java.util.List;

/** What a message costs that has a transaction of its own, with and without duplicates. */
final class InlineBench implements Bench {
    private static final String NAME = "inline";
    private static final List<String> REFERENCES = List.of("floor", "hand", "camel", "spring-integration", "tram");

    @Override
    public List<Row> run(Lab lab) throws Exception {
        List<Contender> contenders = Contenders.inline(lab.dataSource());
        try {
            List<String> names = contenders.stream().map(Contender::name).toList();
            var warmUp = new Workload(NAME, 4, 50, 1);
            lab.rounds().warmUp(warmUp, contenders, lab.settings().warmUp());
            List<Row> rows = new ArrayList<>();
            for (Workload workload : workloads()) {
                var measured = lab.rounds().run(workload, contenders);
                rows.addAll(new Comparison(workload, measured).rates(names, REFERENCES, Contenders.PEERS));
            }
            return rows;
        } finally {
            contenders.forEach(Contender::close);
        }
    }

    private static List<Workload> workloads() {
        List<Workload> workloads = new ArrayList<>();
        for (int duplicates : new int[] {0, 50}) {
            for (int threads : new int[] {1, 4, 8}) {
                workloads.add(new Workload(NAME, threads, duplicates, 1));
            }
        }
        return workloads;
    }

    @Override
    public List<Target> targets(Settings settings) {
        List<Target> targets = new ArrayList<>();
        targets.add(Target.atLeast(NAME, "idem", 0.95, "hand"));
        Contenders.PEERS.forEach(peer -> targets.add(Target.atLeast(NAME, "idem", 1.0, peer)));
        targets.add(Target.atLeast(NAME, "idem", 0.70, "floor"));
        return targets;
    }

    @Override
    public boolean isPlotted(Row row) {
        return row.reference().equals("hand");
    }
}
