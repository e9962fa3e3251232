package dev.idem.cli.schema;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.DatabaseCommand;
import dev.idem.cli.ExitCodes;
import dev.idem.cli.Json;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.schema.Database;
import dev.idem.jdbc.schema.Finding;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code idem schema apply}: creates what is missing, then checks all of it. */
@Command(
        name = "apply",
        description = "Creates the tables that are missing, and checks them. What is there stays as it is, so "
                + "it may be run again. Needs an account that may create tables; the library does not.",
        footer = {
            "",
            "Examples:",
            "  idem schema apply --url jdbc:postgresql://db/shop --user owner --password-env PGPASSWORD",
            "  idem schema apply --url jdbc:h2:file:./shop --user sa",
            "  idem schema apply --partitioned --url jdbc:postgresql://db/shop --user owner --password-env PGPASSWORD"
        })
final class SchemaApplyCommand extends DatabaseCommand {
    @Option(names = "--json", description = "Print the result as one JSON object.")
    boolean json;

    @Option(
            names = "--partitioned",
            description = "Keep the markers in daily partitions, for time-ordered keys; PostgreSQL only. Creates the "
                    + "partitions of the next days as well.")
    boolean partitioned;

    @Option(
            names = "--days-back",
            paramLabel = "DAYS",
            description = "With --partitioned on a new table: how many days before today get a partition; default "
                    + "${DEFAULT-VALUE}. Messages from before them cannot be processed.")
    int daysBack = 7;

    @Override
    public Integer call() throws Exception {
        try (HikariDataSource dataSource = connection.open()) {
            JdbcSchema schema = tables.in(dataSource);
            if (partitioned) {
                applyPartitioned(schema);
            } else {
                schema.apply();
            }
            List<Finding> findings = schema.validate();
            boolean valid = Findings.areHarmless(findings);
            if (json) {
                spec.commandLine().getOut().println(Json.line(new Result(true, valid, findings)));
            } else {
                Findings.print(findings, spec.commandLine().getOut(), "The tables are there, and as they should be.");
            }
            spec.commandLine().getOut().flush();
            return valid ? ExitCodes.OK : ExitCodes.CHECK_FAILED;
        }
    }

    private void applyPartitioned(JdbcSchema schema) {
        if (schema.database() != Database.POSTGRESQL) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--partitioned is for postgresql only, and this is "
                            + schema.database().product());
        }
        try {
            schema.applyPartitioned(daysBack);
        } catch (IllegalArgumentException outOfRange) {
            throw new ParameterException(spec.commandLine(), "--days-back: " + outOfRange.getMessage(), outOfRange);
        }
    }

    private record Result(boolean applied, boolean valid, List<Finding> findings) {}
}
