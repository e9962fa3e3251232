package dev.idem.cli.inbox;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.cli.Printable;
import dev.idem.cli.Times;
import dev.idem.cli.UnknownConsumer;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.sequence.Gap;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code idem inbox gaps}: which streams wait for which versions. */
@Command(
        name = "gaps",
        description =
                "Lists the streams of a consumer in which messages wait for a version that is missing, or is here and "
                        + "not done; the longest waiting first.",
        footer = {
            "",
            "Examples:",
            "  idem inbox gaps --consumer balances --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD",
            "  idem inbox gaps --consumer balances --limit 10 --json --url jdbc:h2:file:./shop"
        })
final class InboxGapsCommand extends DatabaseCommand {
    @Option(names = "--consumer", required = true, paramLabel = "NAME", description = "Whose streams.")
    @SuppressWarnings("NullAway.Init") // set by the parser
    String consumer;

    @Option(names = "--limit", paramLabel = "N", description = "At most so many; default ${DEFAULT-VALUE}.")
    int limit = 100;

    @Option(names = "--json", description = "Print the gaps as one JSON object.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        try (HikariDataSource dataSource = connection.open()) {
            JdbcSchema schema = tables.in(dataSource);
            if (UnknownConsumer.refused(consumer, schema, spec.commandLine())) {
                return ExitCodes.CHECK_FAILED;
            }
            List<Gap> gaps = JdbcInbox.of(schema).gaps(consumer, limit);
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                out.println(Json.line(
                        new Result(gaps.stream().map(InboxGapsCommand::line).toList())));
            } else if (gaps.isEmpty()) {
                out.println("Nothing waits for a version.");
            } else {
                String form = "%-40s %10s %10s %10s %9s %9s  %-7s %s%n";
                out.printf(form, "stream", "current", "missing", "next", "waiting", "parked", "arrived", "age");
                gaps.forEach(gap -> out.printf(
                        form,
                        Printable.line(gap.stream()),
                        gap.current(),
                        gap.missing(),
                        gap.next(),
                        gap.waiting(),
                        gap.parked(),
                        gap.isOpen() ? "no" : "yes",
                        Times.of(Duration.ofSeconds(gap.age().toSeconds()))));
            }
            out.flush();
            return ExitCodes.OK;
        }
    }

    private static Line line(Gap gap) {
        return new Line(
                gap.stream(),
                gap.current(),
                gap.missing(),
                gap.next(),
                gap.waiting(),
                gap.parked(),
                !gap.isOpen(),
                gap.age().toMillis() / 1000.0);
    }

    private record Line(
            String stream,
            long current,
            long missing,
            long next,
            long waiting,
            long parked,
            boolean arrived,
            double ageSeconds) {}

    private record Result(List<Line> gaps) {}
}
