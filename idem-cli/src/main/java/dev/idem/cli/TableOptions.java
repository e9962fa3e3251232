package dev.idem.cli;

import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.schema.Database;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Which tables are meant. */
public final class TableOptions {
    @Option(
            names = "--prefix",
            paramLabel = "TEXT",
            description = "What the names of the tables begin with; default ${DEFAULT-VALUE}.")
    String prefix = JdbcSchema.DEFAULT_PREFIX;

    @Option(
            names = "--schema",
            paramLabel = "NAME",
            description = "The database schema they are in; default the connection's own.")
    @Nullable
    String schema;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec command;

    /** The tables in this database. */
    public JdbcSchema in(DataSource dataSource) {
        return named(() -> JdbcSchema.of(dataSource, null, schema, prefix));
    }

    /** The script that creates the tables. */
    public String scriptFor(Database database) {
        return named(() -> JdbcSchema.script(database, schema, prefix));
    }

    /** The script that creates the tables with markers in partitions. */
    public String partitionedScript() {
        return named(() -> JdbcSchema.partitionedScript(schema, prefix));
    }

    private <T> T named(Supplier<T> call) {
        try {
            return call.get();
        } catch (IllegalArgumentException unusableName) {
            String problem = String.valueOf(unusableName.getMessage());
            throw new ParameterException(command.commandLine(), "--prefix or --schema: " + problem, unusableName);
        }
    }
}
