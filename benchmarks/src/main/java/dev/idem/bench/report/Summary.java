package dev.idem.bench.report;

import java.util.List;
import java.util.stream.Collectors;

/** The report for people: ratios first, then what was to be reached. */
public final class Summary {
    private static final String LEGEND = "median of the ratios within each round (lowest–highest)";

    private final Report report;
    private final List<Target> targets;

    public Summary(Report report, List<Target> targets) {
        this.report = report;
        this.targets = targets;
    }

    public String text() {
        String grids = Grid.of(report.cases()).stream().map(Grid::text).collect(Collectors.joining("\n"));
        return report.bench() + ": " + LEGEND + "\n\n" + grids + "\nTargets\n"
                + verdicts().stream().map(line -> "  " + line + "\n").collect(Collectors.joining())
                + "\n" + report.machine() + "\n" + versions() + "\n";
    }

    /** The same for the documentation. */
    public String markdown() {
        String grids = Grid.of(report.cases()).stream().map(Grid::markdown).collect(Collectors.joining("\n"));
        return "## " + report.bench() + "\n\n" + LEGEND + "\n\n" + grids + "\nTargets\n\n"
                + verdicts().stream().map(line -> "- " + line + "\n").collect(Collectors.joining())
                + "\n" + report.machine() + "  \n" + versions() + "\n";
    }

    private List<String> verdicts() {
        return targets.stream()
                .flatMap(target -> target.verdicts(report.cases()).stream())
                .toList();
    }

    private String versions() {
        return report.versions().entrySet().stream()
                .map(version -> version.getKey() + " " + version.getValue())
                .collect(Collectors.joining(", "));
    }
}
