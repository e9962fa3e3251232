package dev.idem.cli.inbox;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.cli.PersonOptions;
import dev.idem.cli.Printable;
import dev.idem.jdbc.admin.InboxAnswer;
import dev.idem.jdbc.admin.InboxOperator;
import dev.idem.jdbc.admin.JdbcInbox;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code idem inbox erase}: takes away what a message said, and leaves that it was decided. */
@Command(
        name = "erase",
        description = {
            "Erases what messages said, for good: payload, headers, readable ids, ordering keys, results, error texts, "
                    + "revisions and kept copies. That they were decided stays: redeliveries are duplicates still.",
            "One that waits or is parked is given up, and cannot be retried. One that a worker has now is left alone."
        },
        footer = {
            "",
            "Examples:",
            "  idem inbox erase 17 18 --reason 'request 2026-113' --url jdbc:postgresql://db/shop --user shop --password",
            "  idem inbox erase --consumer mail --message-id order-7731 --reason 'request 2026-113' --url jdbc:h2:file:./shop"
        })
final class InboxEraseCommand extends DatabaseCommand {
    @Parameters(
            arity = "0..*",
            paramLabel = "ID",
            description = "The numbers of messages, also of those that have left the queue.")
    List<Long> ids = new ArrayList<>();

    @Option(names = "--consumer", paramLabel = "NAME", description = "With --message-id: the consumer.")
    @Nullable
    String consumer;

    @Option(
            names = "--message-id",
            paramLabel = "TEXT",
            description =
                    "Instead of numbers: the id of the message, as lists show it. Reads all markers of the consumer.")
    @Nullable
    String message;

    @Mixin
    PersonOptions person = new PersonOptions();

    @Option(names = "--dry-run", description = "Only say what would be done.")
    boolean dryRun;

    @Option(names = "--json", description = "Print the answer as one JSON object.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        if (ids.isEmpty() == (message == null) || (message == null) != (consumer == null)) {
            throw new ParameterException(
                    spec.commandLine(), "Say which: the IDs of messages, or --consumer and --message-id");
        }
        try (HikariDataSource dataSource = connection.open()) {
            InboxOperator operator = person.as(JdbcInbox.of(tables.in(dataSource))::as);
            List<InboxAnswer> answers = answers(dryRun ? operator.dryRun() : operator);
            print(answers);
            return answers.stream().allMatch(InboxEraseCommand::isFine) ? ExitCodes.OK : ExitCodes.CHECK_FAILED;
        }
    }

    private List<InboxAnswer> answers(InboxOperator operator) {
        if (consumer != null && message != null) {
            return List.of(operator.erase(consumer, message));
        }
        return ids.stream().distinct().map(operator::erase).toList();
    }

    private static boolean isFine(InboxAnswer answer) {
        return answer.result() == InboxAnswer.Result.CHANGED || answer.result() == InboxAnswer.Result.UNCHANGED;
    }

    private void print(List<InboxAnswer> answers) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            List<Line> lines = answers.stream()
                    .map(answer -> new Line(answer.id(), answer.result().name(), answer.detail()))
                    .toList();
            out.println(Json.line(new Result(dryRun, lines)));
        } else {
            answers.forEach(answer -> out.println(answer.id() + ": " + answer.result()
                    + (dryRun && answer.result() == InboxAnswer.Result.CHANGED ? " (would be): " : ": ")
                    + Printable.line(answer.detail())));
        }
        out.flush();
    }

    private record Line(long id, String result, String detail) {}

    private record Result(boolean dryRun, List<Line> messages) {}
}
