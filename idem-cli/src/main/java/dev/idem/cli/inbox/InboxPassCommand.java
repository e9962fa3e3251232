package dev.idem.cli.inbox;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.PersonOptions;
import dev.idem.cli.Printable;
import dev.idem.cli.UnknownConsumer;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.admin.InboxOperator;
import dev.idem.jdbc.admin.JdbcInbox;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code idem inbox pass}: goes on behind versions that will not come. */
@Command(
        name = "pass",
        description =
                "Lets a stream go on behind the versions that are missing in it; should they come later, they are stale.",
        footer = {
            "",
            "Examples:",
            "  idem inbox gaps --consumer balances --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD",
            "  idem inbox pass account-17 --consumer balances --reason 'lost by the producer' --url jdbc:h2:file:./shop"
        })
final class InboxPassCommand extends DatabaseCommand {
    @Mixin
    PersonOptions person = new PersonOptions();

    @Parameters(paramLabel = "STREAM", description = "The stream, as 'idem inbox gaps' shows it.")
    String stream = "";

    @Option(names = "--consumer", required = true, paramLabel = "NAME", description = "Whose stream.")
    String consumer = "";

    @Override
    public Integer call() throws Exception {
        try (HikariDataSource dataSource = connection.open()) {
            JdbcSchema schema = tables.in(dataSource);
            if (UnknownConsumer.refused(consumer, schema, spec.commandLine())) {
                return ExitCodes.CHECK_FAILED;
            }
            InboxOperator operator = person.as(JdbcInbox.of(schema)::as);
            boolean passed = operator.passGap(consumer, stream);
            PrintWriter out = spec.commandLine().getOut();
            out.println(
                    passed
                            ? "Stream " + Printable.line(stream) + " goes on."
                            : "Nothing was changed: no version is missing before the next message of "
                                    + Printable.line(stream) + ", or somebody is working on it now.");
            out.flush();
            return passed ? ExitCodes.OK : ExitCodes.CHECK_FAILED;
        }
    }
}
