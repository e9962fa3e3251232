package dev.idem.cli.schema;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.cli.PersonOptions;
import dev.idem.jdbc.admin.JdbcRecovery;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code idem schema accept-loss}: goes on with tables that were restored, emptied or created anew. */
@Command(
        name = "accept-loss",
        description =
                "Goes on with tables that know less than they did: restored from a backup, emptied or created anew. "
                        + "Offsets that were committed until now are believed, so what is missing since the backup stays missing; "
                        + "reset the offsets instead if it must not. Where markers are gone, messages from before now "
                        + "become undecidable. Start the services anew then.",
        footer = {
            "",
            "Example:",
            "  idem schema accept-loss --reason 'test data only' --url jdbc:postgresql://db/shop --user shop --password"
        })
final class SchemaAcceptLossCommand extends DatabaseCommand {
    @Mixin
    PersonOptions person = new PersonOptions();

    @Option(names = "--json", description = "Print the answer as one JSON object.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        try (HikariDataSource dataSource = connection.open()) {
            JdbcRecovery recovery = JdbcRecovery.of(tables.in(dataSource));
            List<String> consumers = person.as(recovery::acceptLoss);
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                out.println(Json.line(new Result(consumers)));
            } else {
                out.println("Offsets that were committed until now are believed.");
                consumers.forEach(consumer -> out.println(
                        consumer + ": markers are gone; messages that were made before now are undecidable."));
            }
            out.flush();
            return ExitCodes.OK;
        }
    }

    private record Result(List<String> consumersWithoutMarkers) {}
}
