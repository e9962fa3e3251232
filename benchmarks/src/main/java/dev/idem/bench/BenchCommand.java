package dev.idem.bench;

import dev.idem.bench.contender.Payments;
import dev.idem.bench.report.Plot;
import dev.idem.bench.report.Report;
import dev.idem.bench.report.Row;
import dev.idem.bench.report.Summary;
import dev.idem.bench.report.Target;
import dev.idem.cli.CommonOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code idem bench}: measures Idem beside every peer in the same run. */
@Command(
        name = "bench",
        description =
                "Measures what a message costs: Idem beside the bare business transaction, the upsert by hand and the"
                        + " libraries of others, in the same run, in interleaved rounds, on a PostgreSQL with durable"
                        + " commits that it starts and removes. After every measurement it counts the payments.",
        footer = {
            "",
            "Examples:",
            "  idem bench inline --quick              a first look, half a minute",
            "  idem bench queue --quick               stored messages, a minute",
            "  idem bench kafka --quick               from a real broker, two minutes",
            "  idem bench all --json result.json      everything, more than an hour",
            "  idem bench inline --db 'jdbc:postgresql://db/test?user=me&password=secret'",
            "The figures of a laptop at work are worth little; the ratios are worth more."
        })
final class BenchCommand implements Callable<Integer> {
    @Mixin
    CommonOptions common = new CommonOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec spec;

    @Parameters(paramLabel = "BENCH", description = "What to measure: ${COMPLETION-CANDIDATES}.")
    BenchKind kind = BenchKind.ALL;

    @Option(names = "--quick", description = "Fewer and shorter rounds and smaller tables: all of it in some minutes.")
    boolean quick;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of each case; default 15, or 3 if quick.")
    @Nullable
    Integer rounds;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            description = "Length of a measurement; default 0.4, or 0.15 if quick.")
    @Nullable
    Double seconds;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the result as JSON too.")
    @Nullable
    Path json;

    @Option(names = "--markdown", paramLabel = "FILE", description = "Write the tables as Markdown too.")
    @Nullable
    Path markdown;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            defaultValue = "${sys:idem.bench.out:-bench-results}",
            description = "Where the plots go; default ${DEFAULT-VALUE}.")
    Path out = Path.of("bench-results");

    @Option(
            names = "--db",
            paramLabel = "URL",
            description =
                    "Measure on this PostgreSQL, in a schema that is created and dropped, instead of starting one.")
    @Nullable
    String url;

    @Override
    public Integer call() throws Exception {
        Settings settings = settings();
        Files.createDirectories(out); // before the work, so that a wrong path is known at once
        PrintWriter err = spec.commandLine().getErr();
        long began = System.nanoTime();
        try (Database database = url == null ? Database.start() : Database.existing(url)) {
            Payments.create(database.dataSource());
            var lab = new Lab(database.dataSource(), settings, line -> {
                err.printf(
                        "%5d s  %s%n",
                        Duration.ofNanos(System.nanoTime() - began).toSeconds(), line);
                err.flush();
            });
            if (kind == BenchKind.ALL && !kind.parts().contains(BenchKind.RABBITMQ)) {
                lab.progress().accept("rabbitmq is left out: apt-get install rabbitmq-server");
            }
            List<Row> rows = new ArrayList<>();
            List<Target> targets = new ArrayList<>();
            for (BenchKind part : kind.parts()) {
                Bench bench = part.bench();
                List<Row> found = bench.run(lab);
                rows.addAll(found);
                targets.addAll(bench.targets(settings));
                List<Row> plotted = found.stream().filter(bench::isPlotted).toList();
                Files.writeString(out.resolve(part + ".svg"), Plot.svg("idem bench " + part, plotted));
            }
            var report = new Report(
                    kind.toString(),
                    Surroundings.machine(database),
                    Surroundings.versions(database.dataSource()),
                    rows);
            publish(report, new Summary(report, targets));
        }
        return 0;
    }

    private void publish(Report report, Summary summary) throws IOException {
        if (json != null) {
            Files.writeString(json, report.json());
        }
        if (markdown != null) {
            Files.writeString(markdown, summary.markdown());
        }
        PrintWriter answer = spec.commandLine().getOut();
        answer.print(summary.text());
        answer.println("Plots: " + out);
        answer.flush();
    }

    private Settings settings() {
        int chosenRounds = rounds != null ? rounds : quick ? 3 : 15;
        double chosenSeconds = seconds != null ? seconds : quick ? 0.15 : 0.4;
        check(chosenRounds >= 1 && chosenRounds <= 1_000, "--rounds must be between 1 and 1000");
        check(chosenSeconds > 0 && chosenSeconds <= 600, "--seconds must be above 0 and at most 600");
        return new Settings(quick, chosenRounds, Duration.ofNanos((long) (chosenSeconds * 1e9)));
    }

    private void check(boolean fine, String problem) {
        if (!fine) {
            throw new ParameterException(spec.commandLine(), problem);
        }
    }
}
