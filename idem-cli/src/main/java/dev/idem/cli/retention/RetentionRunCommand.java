package dev.idem.cli.retention;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.cli.Printable;
import dev.idem.cli.Times;
import dev.idem.cli.UnknownConsumer;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.admin.JdbcRetention;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code idem retention run}: one sweep now, for a cron job or a look beforehand. */
@Command(
        name = "run",
        description = "Sweeps once: removes markers and results that are older than the windows their consumers have "
                + "declared, in small steps, while the consumers go on working. Where the markers are in partitions, it creates "
                + "those of the next days and drops those that are older than every window. Services do this by themselves; run it "
                + "where that is switched off, at least daily, or with --dry-run to see what would go.",
        footer = {
            "",
            "Examples:",
            "  idem retention run --dry-run --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD",
            "  idem retention run --consumer billing --url jdbc:mariadb://db/shop --user shop --password --json"
        })
final class RetentionRunCommand extends DatabaseCommand {
    private static final long REPORT_NANOS = Duration.ofSeconds(1).toNanos();

    @Option(
            names = "--consumer",
            paramLabel = "NAME",
            description = "Only this consumer; may be given more than once. Default all. Partitions belong to all "
                    + "consumers, so they are dropped only when all are swept.")
    List<String> consumers = new ArrayList<>();

    @Option(names = "--dry-run", description = "Only count what would be removed.")
    boolean dryRun;

    @Option(names = "--json", description = "Print the result as one JSON object, and no progress.")
    boolean json;

    private long lastReport = System.nanoTime();

    @Override
    public Integer call() throws Exception {
        try (HikariDataSource dataSource = connection.open()) {
            JdbcSchema schema = tables.in(dataSource);
            for (String name : consumers) {
                if (UnknownConsumer.refused(name, schema, spec.commandLine())) {
                    return ExitCodes.CHECK_FAILED;
                }
            }
            JdbcRetention retention = JdbcRetention.of(schema);
            JdbcRetention.Report report =
                    dryRun ? retention.dryRun(consumers, this::report) : retention.run(consumers, this::report);
            print(report.consumers(), report.partitions().orElse(null));
            return ExitCodes.OK;
        }
    }

    /** On stderr, about once a second, so that stdout stays the answer. */
    private void report(JdbcRetention.Progress progress) {
        if (!json && System.nanoTime() - lastReport > REPORT_NANOS) {
            lastReport = System.nanoTime();
            PrintWriter err = spec.commandLine().getErr();
            err.printf(
                    "%s: %s%,d %s so far%n",
                    Printable.line(progress.what()),
                    progress.percent() < 0 ? "" : progress.percent() + " %, ",
                    progress.rows(),
                    dryRun ? "found" : "removed");
            err.flush();
        }
    }

    private void print(List<JdbcRetention.Swept> swept, JdbcRetention.@Nullable Partitions partitions) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            List<Line> lines = swept.stream().map(RetentionRunCommand::line).toList();
            out.println(Json.line(
                    partitions == null ? new Result(dryRun, lines) : new WithPartitions(dryRun, lines, partitions)));
        } else if (swept.isEmpty()) {
            out.println("No consumer has declared a window yet.");
        } else {
            swept.forEach(s -> out.printf(
                    "%s: window %s, %s%,d markers and %,d results%n",
                    Printable.line(s.consumer()),
                    s.window().map(Times::of).orElse("for ever"),
                    dryRun ? "would remove " : "removed ",
                    s.markers(),
                    s.results()));
        }
        if (!json && partitions != null) {
            print(partitions, out);
        }
        out.flush();
    }

    private void print(JdbcRetention.Partitions partitions, PrintWriter out) {
        if (!partitions.permitted()) {
            out.println(
                    "partitions: not touched, because this account does not own the tables. Run this with the owner.");
            return;
        }
        out.printf(
                "partitions: %s %s, %s %s%n",
                dryRun ? "would create" : "created",
                names(partitions.created()),
                dryRun ? "would drop" : "dropped",
                names(partitions.dropped()));
        if (!partitions.blocked().isEmpty()) {
            out.println("partitions: could not drop " + names(partitions.blocked())
                    + ", because others hold locks on the markers for too long. Look for long transactions in"
                    + " pg_stat_activity, and run this again.");
        }
    }

    private static String names(List<String> partitions) {
        return partitions.isEmpty() ? "none" : String.join(", ", partitions);
    }

    private static Line line(JdbcRetention.Swept swept) {
        return new Line(
                swept.consumer(),
                swept.window().map(Duration::toString).orElse(null),
                swept.cutoff().map(Object::toString).orElse(null),
                swept.markers(),
                swept.results());
    }

    private record Line(
            String consumer,
            @Nullable String window,
            @Nullable String cutoff,
            long markers,
            long results) {}

    private record Result(boolean dryRun, List<Line> consumers) {}

    private record WithPartitions(boolean dryRun, List<Line> consumers, JdbcRetention.Partitions partitions) {}
}
