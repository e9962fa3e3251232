package dev.idem.cli.schema;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.jdbc.schema.Finding;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code idem schema validate}: says what is wrong with the tables and what to do about it. Changes nothing. */
@Command(
        name = "validate",
        description = "Checks the tables and what this account may do with them. Changes nothing. Run it with "
                + "the account of the service. Ends with 1 if the service could not keep its promise.",
        footer = {
            "",
            "Examples:",
            "  idem schema validate --url jdbc:postgresql://db/shop --user shop --password-env PGPASSWORD",
            "  idem schema validate --url jdbc:mariadb://db/shop --user shop --password --json"
        })
final class SchemaValidateCommand extends DatabaseCommand {
    @Option(names = "--json", description = "Print the findings as one JSON object.")
    boolean json;

    @Override
    public Integer call() throws Exception {
        try (HikariDataSource dataSource = connection.open()) {
            List<Finding> findings = tables.in(dataSource).validate();
            boolean valid = Findings.areHarmless(findings);
            if (json) {
                spec.commandLine().getOut().println(Json.line(new Result(valid, findings)));
            } else {
                Findings.print(findings, spec.commandLine().getOut(), "The tables are as they should be.");
            }
            spec.commandLine().getOut().flush();
            return valid ? ExitCodes.OK : ExitCodes.CHECK_FAILED;
        }
    }

    private record Result(boolean valid, List<Finding> findings) {}
}
