package dev.idem.cli.schema;

import dev.idem.cli.CommonOptions;
import dev.idem.cli.TableOptions;
import dev.idem.jdbc.schema.Database;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code idem schema print}: the tables as SQL, for a migration tool or a person. Needs no database. */
@Command(
        name = "print",
        description = "Prints the SQL that creates the tables, as shipped in the library.",
        footer = {
            "",
            "Examples:",
            "  idem schema print --database postgresql > V7__idem.sql",
            "  idem schema print --database mariadb --prefix inbox_",
            "  idem schema print --database postgresql --partitioned"
        })
final class SchemaPrintCommand implements Runnable {
    @Mixin
    CommonOptions common = new CommonOptions();

    @Mixin
    TableOptions tables = new TableOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec spec;

    @Option(names = "--database", required = true, paramLabel = "DATABASE", description = "postgresql, mariadb or h2.")
    Database database = Database.POSTGRESQL;

    @Option(
            names = "--partitioned",
            description = "With markers in daily partitions, for time-ordered keys; PostgreSQL only.")
    boolean partitioned;

    @Override
    public void run() {
        if (partitioned && database != Database.POSTGRESQL) {
            throw new ParameterException(
                    spec.commandLine(), "--partitioned is for postgresql only, not for " + database.label());
        }
        PrintWriter out = spec.commandLine().getOut();
        out.print(partitioned ? tables.partitionedScript() : tables.scriptFor(database));
        out.flush();
    }
}
