package dev.idem.cli.inbox;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.cli.Printable;
import dev.idem.cli.Times;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.queue.QueueStats;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code idem inbox stats}: how each queue stands. */
@Command(
        name = "stats",
        description =
                "Counts the stored messages of each consumer by their states. Counting stops at 10,000 each, so it "
                        + "stays cheap.",
        footer = {
            "",
            "Examples:",
            "  idem inbox stats --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD",
            "  idem inbox stats --url jdbc:mariadb://db/shop --user shop --password --json"
        })
final class InboxStatsCommand extends DatabaseCommand {
    @Option(names = "--json", description = "Print the counts as one JSON object.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        try (HikariDataSource dataSource = connection.open()) {
            List<QueueStats> stats = JdbcInbox.of(tables.in(dataSource)).stats();
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                out.println(Json.line(
                        new Result(stats.stream().map(InboxStatsCommand::line).toList())));
            } else if (stats.isEmpty()) {
                out.println("No consumer has been here yet.");
            } else {
                String form = "%-30s %9s %9s %9s %9s %9s %9s  %s%n";
                out.printf(form, "consumer", "pending", "held", "retryable", "running", "stale", "parked", "oldest");
                stats.forEach(s -> out.printf(
                        form,
                        Printable.line(s.consumer()),
                        s.pending() + (s.atLeast() ? "+" : ""),
                        s.held(),
                        s.retryable(),
                        s.inProgress(),
                        s.stale(),
                        s.parked(),
                        s.oldestPending().map(InboxStatsCommand::age).orElse("-")));
            }
            out.flush();
            return ExitCodes.OK;
        }
    }

    private static String age(Duration age) {
        return Times.of(Duration.ofSeconds(Math.max(0, age.toSeconds())));
    }

    private static Line line(QueueStats s) {
        return new Line(
                s.consumer(),
                s.pending(),
                s.oldestPending().map(age -> age.toMillis() / 1000.0).orElse(null),
                s.inProgress(),
                s.stale(),
                s.retryable(),
                s.held(),
                s.parked(),
                s.atLeast());
    }

    private record Line(
            String consumer,
            long pending,
            @Nullable Double oldestPendingSeconds,
            long inProgress,
            long stale,
            long retryable,
            long held,
            long parked,
            boolean atLeast) {}

    private record Result(List<Line> consumers) {}
}
