package dev.idem.cli.inbox;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.ResultCodec;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.PersonOptions;
import dev.idem.cli.Printable;
import dev.idem.jdbc.admin.InboxOperator;
import dev.idem.jdbc.admin.JdbcInbox;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code idem inbox effect}: what a person has found out about an effect of which nobody knew. */
@Command(
        name = "effect",
        description = {
            "Says whether an unknown effect of a parked message was made. Ask the provider first, with the key that "
                    + "'idem inbox show' prints; then 'idem inbox retry' lets the message go on.",
            "An effect whose result is no text is settled in Java: InboxOperator.effectWasMade."
        },
        footer = {
            "",
            "Examples:",
            "  idem inbox effect 17 charge-card --made --answer receipt-4711 --reason 'seen at the provider' --url jdbc:h2:file:./shop",
            "  idem inbox effect 17 charge-card --not-made --reason 'the provider knows no such key' --url jdbc:h2:file:./shop"
        })
final class InboxEffectCommand extends DatabaseCommand {
    @Mixin
    PersonOptions person = new PersonOptions();

    @Parameters(index = "0", paramLabel = "ID", description = "The number of the message.")
    long id;

    @Parameters(index = "1", paramLabel = "NAME", description = "The name of the effect.")
    String effect = "";

    @ArgGroup(multiplicity = "1")
    Verdict verdict = new Verdict();

    @Option(names = "--answer", paramLabel = "TEXT", description = "With --made: what the provider answered, as text.")
    @Nullable
    String answer;

    static final class Verdict {
        @Option(names = "--made", description = "It was made.")
        boolean made;

        @Option(names = "--not-made", description = "It was not, and will not be by a call that is still on its way.")
        boolean notMade;
    }

    @Override
    public Integer call() throws Exception {
        if (answer != null && verdict.notMade) {
            throw new ParameterException(spec.commandLine(), "--answer goes with --made");
        }
        try (HikariDataSource dataSource = connection.open()) {
            boolean said = said(person.as(JdbcInbox.of(tables.in(dataSource))::as));
            PrintWriter out = spec.commandLine().getOut();
            String about = "effect " + Printable.line(effect) + " of message " + id;
            out.println(
                    said
                            ? "Said of " + about + ". Retry the message to let it go on."
                            : "Nothing was changed: there is no unknown " + about + ", or the message is not parked.");
            out.flush();
            return said ? ExitCodes.OK : ExitCodes.CHECK_FAILED;
        }
    }

    private boolean said(InboxOperator operator) {
        if (verdict.notMade) {
            return operator.effectWasNotMade(id, effect);
        }
        return answer == null
                ? operator.effectWasMade(id, effect)
                : operator.effectWasMade(id, effect, ResultCodec.text(), answer);
    }
}
