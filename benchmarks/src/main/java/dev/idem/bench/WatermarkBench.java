package dev.idem.bench;

import dev.idem.bench.contender.Contender;
import dev.idem.bench.contender.Contenders;
import dev.idem.bench.load.Workload;
import dev.idem.bench.report.Comparison;
import dev.idem.bench.report.Row;
import dev.idem.bench.report.Target;
import java.util.ArrayList;
import java.util.List;

/** What remains of the cost when a position for each partition takes the place of a marker for each message. */
final class WatermarkBench implements Bench {
    private static final String NAME = "watermark";
    private static final int BATCH = 500;
    private static final List<String> REFERENCES = List.of("floor-batch", "idem-batch");

    @Override
    public List<Row> run(Lab lab) throws Exception {
        List<Contender> contenders = Contenders.watermark(lab.dataSource());
        try {
            List<String> names = contenders.stream().map(Contender::name).toList();
            List<Row> rows = new ArrayList<>();
            for (int threads : lab.settings().quick() ? new int[] {4} : new int[] {4, 1}) {
                var workload = new Workload(NAME, threads, 0, BATCH);
                lab.rounds().warmUp(workload, contenders, lab.settings().warmUp());
                var measured = lab.rounds().run(workload, contenders);
                rows.addAll(new Comparison(workload, measured).rates(names, REFERENCES, List.of()));
            }
            return rows;
        } finally {
            contenders.forEach(Contender::close);
        }
    }

    @Override
    public List<Target> targets(Settings settings) {
        return List.of(Target.atLeast(NAME, "idem-watermark", 0.90, "floor-batch"));
    }

    @Override
    public boolean isPlotted(Row row) {
        return row.reference().equals("floor-batch");
    }
}
