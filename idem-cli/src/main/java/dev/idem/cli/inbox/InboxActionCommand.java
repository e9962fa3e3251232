package dev.idem.cli.inbox;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.cli.PersonOptions;
import dev.idem.cli.Printable;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.admin.InboxAction;
import dev.idem.jdbc.admin.InboxAnswer;
import dev.idem.jdbc.admin.InboxFilter;
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

/** What retry, park and skip have in common: messages by their numbers, or all of a filter when that was said. */
@Command
abstract class InboxActionCommand extends DatabaseCommand {
    @Mixin
    FilterOptions filter = new FilterOptions();

    @Parameters(
            arity = "0..*",
            paramLabel = "ID",
            description = "The numbers of messages, as 'idem inbox list' shows them.")
    List<Long> ids = new ArrayList<>();

    @Option(
            names = "--all",
            description = "All messages that the filter finds; must be said, so that nobody does it unawares.")
    boolean all;

    @Mixin
    PersonOptions person = new PersonOptions();

    @Option(names = "--dry-run", description = "Only say what would be done.")
    boolean dryRun;

    @Option(names = "--json", description = "Print the answer as one JSON object.")
    boolean json;

    private final InboxAction action;

    InboxActionCommand(InboxAction action) {
        this.action = action;
    }

    /** What is particular to the action. */
    InboxOperator particular(InboxOperator operator) {
        return operator;
    }

    @Override
    public Integer call() throws Exception {
        check();
        InboxFilter meant = filter.filter();
        try (HikariDataSource dataSource = connection.open()) {
            JdbcSchema schema = tables.in(dataSource);
            if (filter.isUnknown(schema)) {
                return ExitCodes.CHECK_FAILED;
            }
            InboxOperator operator = operator(JdbcInbox.of(schema));
            return ids.isEmpty() ? filtered(operator, meant) : each(operator);
        }
    }

    private void check() {
        if (ids.isEmpty() && filter.isEmpty() && !all) {
            throw new ParameterException(spec.commandLine(), "Say which: the IDs of messages, or a filter with --all");
        }
        if (!ids.isEmpty() && (all || !filter.isEmpty())) {
            throw new ParameterException(spec.commandLine(), "IDs and a filter do not go together");
        }
        if (ids.isEmpty() && !all && !dryRun) {
            throw new ParameterException(
                    spec.commandLine(), "A filter may find many messages: say --all, or --dry-run to count them first");
        }
    }

    private InboxOperator operator(JdbcInbox inbox) {
        InboxOperator operator = particular(person.as(inbox::as));
        return dryRun ? operator.dryRun() : operator;
    }

    private int each(InboxOperator operator) {
        List<InboxAnswer> answers =
                ids.stream().distinct().map(id -> operator.act(action, id)).toList();
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(
                    Json.line(new Each(dryRun, answers.stream().map(Line::of).toList())));
        } else {
            answers.forEach(answer -> out.println(text(answer)));
        }
        out.flush();
        return answers.stream().allMatch(InboxActionCommand::isFine) ? ExitCodes.OK : ExitCodes.CHECK_FAILED;
    }

    private int filtered(InboxOperator operator, InboxFilter meant) {
        PrintWriter err = spec.commandLine().getErr();
        InboxAnswer.Sum sum = operator.actOnAll(action, meant, progress -> {
            if (!json) {
                err.printf("%,d so far%n", progress.matched());
                err.flush();
            }
        });
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(Json.line(new Filtered(
                    dryRun,
                    sum.matched(),
                    sum.changed(),
                    sum.unchanged(),
                    sum.busy(),
                    sum.refused(),
                    sum.others().stream().map(Line::of).toList())));
        } else {
            out.printf(
                    "%,d found, %s%,d changed, %,d unchanged, %,d busy, %,d refused%n",
                    sum.matched(),
                    dryRun ? "would be: " : "",
                    sum.changed(),
                    sum.unchanged(),
                    sum.busy(),
                    sum.refused());
            sum.others().forEach(answer -> out.println(text(answer)));
        }
        out.flush();
        return sum.busy() + sum.refused() == 0 ? ExitCodes.OK : ExitCodes.CHECK_FAILED;
    }

    private static boolean isFine(InboxAnswer answer) {
        return answer.result() == InboxAnswer.Result.CHANGED || answer.result() == InboxAnswer.Result.UNCHANGED;
    }

    private String text(InboxAnswer answer) {
        boolean would = dryRun && answer.result() == InboxAnswer.Result.CHANGED;
        return answer.id() + ": " + answer.result() + (would ? " (would be): " : ": ")
                + Printable.line(answer.detail());
    }

    private record Line(
            long id,
            String result,
            @Nullable String from,
            @Nullable String to,
            String detail) {
        private static Line of(InboxAnswer answer) {
            return new Line(
                    answer.id(),
                    answer.result().name(),
                    answer.from().map(Enum::name).orElse(null),
                    answer.to().map(Enum::name).orElse(null),
                    answer.detail());
        }
    }

    private record Each(boolean dryRun, List<Line> messages) {}

    private record Filtered(
            boolean dryRun, long found, long changed, long unchanged, long busy, long refused, List<Line> others) {}
}
