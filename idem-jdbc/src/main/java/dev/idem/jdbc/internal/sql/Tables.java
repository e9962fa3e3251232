package dev.idem.jdbc.internal.sql;

import dev.idem.StoreException;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The tables by their full names. The schema is always part of the name, so a search path that differs between two
 * instances cannot give them two inboxes.
 *
 * @param schemaName the schema as the database knows it; has no quotes in it
 * @param partitioned whether the markers are in partitions
 */
public record Tables(Dialect dialect, String schemaName, Identifier prefix, boolean partitioned) {
    private static final List<String> TABLES = List.of(
            "meta",
            "consumer",
            "marker",
            "result",
            "retention",
            "watermark",
            "sequence",
            "queue",
            "line",
            "worker",
            "run",
            "attempt",
            "step",
            "archive",
            "audit",
            "replay",
            "revision",
            "witness");
    private static final Pattern QUOTES = Pattern.compile("['\"`\\\\]");

    /** Takes the configured schema, or the one the connection is in. */
    public static Tables in(Connection connection, Dialect dialect, @Nullable Identifier schema, Identifier prefix)
            throws SQLException {
        if (schema != null) {
            return in(dialect, schema, prefix);
        }
        String current = dialect.catalogIsSchema() ? connection.getCatalog() : connection.getSchema();
        if (current == null || QUOTES.matcher(current).find()) {
            throw new StoreException(
                    "The connection is in no schema that could hold the tables: name one in the URL, or set it with"
                            + " JdbcStore.builder(dataSource).schema(\"…\")",
                    null);
        }
        return new Tables(dialect, current, prefix, false);
    }

    public static Tables in(Dialect dialect, Identifier schema, Identifier prefix) {
        String name = dialect.database() == Database.H2 ? schema.name().toUpperCase(Locale.ROOT) : schema.name();
        return new Tables(dialect, name, prefix, false);
    }

    /** Those of a schema that the database knows by this name. */
    public static Tables of(Database database, String schemaName, String prefix, boolean partitioned) {
        Tables plain = new Tables(Dialect.of(database), schemaName, new Identifier(prefix), false);
        return partitioned ? plain.withPartitions() : plain;
    }

    /** The same tables, with markers in partitions. */
    public Tables withPartitions() {
        return new Tables(PostgreSql.PARTITIONED, schemaName, prefix, true);
    }

    public Tables withoutPartitions() {
        return new Tables(Dialect.of(dialect.database()), schemaName, prefix, false);
    }

    /** Fills {@code ${marker}} and the like into a statement or a script. */
    public String fill(String sql) {
        String schema = dialect.quote(schemaName);
        String filled = sql.replace("${schemaName}", schemaName)
                .replace("${schema}", schema)
                .replace("${prefix}", prefix.name());
        for (String table : TABLES) {
            filled = filled.replace("${" + table + "}", schema + "." + prefix + table);
        }
        return filled;
    }

    @Override
    public String toString() {
        return schemaName + "." + prefix + "*";
    }
}
