package dev.idem.bench;

import dev.idem.bench.report.Row;
import dev.idem.bench.report.Target;
import java.util.List;

/** One question about speed. Stateless. */
interface Bench {
    List<Row> run(Lab lab) throws Exception;

    /** What is to be reached under these settings. */
    List<Target> targets(Settings settings);

    /** Whether a row is worth a bar in the plot. */
    boolean isPlotted(Row row);
}
