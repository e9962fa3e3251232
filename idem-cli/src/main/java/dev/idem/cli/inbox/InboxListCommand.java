package dev.idem.cli.inbox;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.cli.Printable;
import dev.idem.cli.Times;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.admin.InboxFilter;
import dev.idem.jdbc.admin.InboxMessage;
import dev.idem.jdbc.admin.JdbcInbox;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code idem inbox list}: messages, page by page. */
@Command(
        name = "list",
        description = "Lists stored messages, the oldest first, with their numbers for the other commands.",
        footer = {
            "",
            "Examples:",
            "  idem inbox list --state parked --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD",
            "  idem inbox list --consumer mail --older-than 1h --limit 500 --after 4711 --json --url jdbc:h2:file:./shop"
        })
final class InboxListCommand extends DatabaseCommand {
    private static final int LARGEST = 10_000;
    private static final int SHORT = 60;

    @Mixin
    FilterOptions filter = new FilterOptions();

    @Option(names = "--limit", paramLabel = "N", description = "How many at most; default ${DEFAULT-VALUE}.")
    int limit = 50;

    @Option(
            names = "--after",
            paramLabel = "ID",
            description = "Go on behind this number, which the page before ends with.")
    @Nullable
    Long after;

    @Option(names = "--newest", description = "The newest first.")
    boolean newest;

    @Option(names = "--json", description = "Print them as one JSON object.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        if (limit < 1 || limit > LARGEST) {
            throw new ParameterException(spec.commandLine(), "--limit must be 1 to " + LARGEST);
        }
        InboxFilter meant = filter.filter();
        try (HikariDataSource dataSource = connection.open()) {
            JdbcSchema schema = tables.in(dataSource);
            if (filter.isUnknown(schema)) {
                return ExitCodes.CHECK_FAILED;
            }
            JdbcInbox.Sorted sorted = newest ? JdbcInbox.Sorted.NEWEST_FIRST : JdbcInbox.Sorted.OLDEST_FIRST;
            InboxMessage.Page page = JdbcInbox.of(schema).list(meant, sorted, limit, Optional.ofNullable(after));
            print(spec.commandLine().getOut(), page);
            return ExitCodes.OK;
        }
    }

    private void print(PrintWriter out, InboxMessage.Page page) {
        if (json) {
            out.println(Json.line(new Result(
                    page.messages().stream().map(MessageLine::of).toList(),
                    page.next().orElse(null))));
        } else if (page.messages().isEmpty()) {
            out.println("No message is like that.");
        } else {
            page.messages().forEach(message -> out.println(line(message)));
            page.next().ifPresent(next -> out.println("There are more: --after " + next));
        }
        out.flush();
    }

    private static String line(InboxMessage message) {
        return String.format(
                "%8d  %-16s %s  %s/%s%s%s%s",
                message.id(),
                message.state(),
                Times.of(message.storedAt()),
                Printable.line(message.consumer()),
                Printable.line(message.messageId(), SHORT),
                message.orderingKey()
                        .map(key -> "  key " + Printable.line(key, SHORT))
                        .orElse(""),
                message.reason().map(reason -> "  " + Printable.line(reason)).orElse(""),
                message.error()
                        .filter(error -> !error.isEmpty())
                        .map(error -> ": " + Printable.line(error, SHORT))
                        .orElse(""));
    }

    private record Result(
            List<MessageLine> messages, @Nullable Long next) {}
}
