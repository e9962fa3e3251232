package dev.idem.jdbc;

import dev.idem.jdbc.internal.sql.Grants;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import dev.idem.jdbc.schema.Finding;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Says why the tables cannot be read, and what would help: they are not there, are elsewhere, or may not be read. Stateless. */
final class NoTables {
    private static final String MARKER = "marker";

    private static final String POSTGRESQL = """
            SELECT n.nspname, n.nspname = ANY (current_schemas(false))
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relname = ? AND n.nspname <> ? AND c.relkind IN ('r', 'p') ORDER BY 2 DESC, 1 LIMIT 5
            """;

    private static final String STANDARD = """
            SELECT table_schema, 1 = 0 FROM information_schema.tables
            WHERE LOWER(table_name) = ? AND table_schema <> ? ORDER BY table_schema LIMIT 5
            """;

    private static final String PREFIXES = """
            SELECT LOWER(table_name) FROM information_schema.tables
            WHERE table_schema = ? AND (LOWER(table_name) LIKE '%meta' OR LOWER(table_name) LIKE '%marker')
            ORDER BY 1 LIMIT 100
            """;

    private NoTables() {}

    /** In a transaction that can go on. */
    static Finding finding(Connection connection, Tables tables, SQLException failure) throws SQLException {
        if (SqlFaults.isDenied(failure)) {
            String role = Grants.role(connection, tables.dialect().database());
            return error(
                    "The role " + role + " may not read the tables " + tables + state(failure),
                    "Let their owner run: " + Grants.statements(connection, tables));
        }
        if (!SqlFaults.isAbsent(failure)) {
            return error(
                    "The tables " + tables + " cannot be read" + state(failure) + ": " + SqlFaults.quoted(failure),
                    "Mend this; or, if they are not there, create them: idem schema apply, or SchemaMode.CREATE");
        }
        List<Other> others = others(connection, tables);
        String problem = "The tables " + tables + " do not exist" + state(failure);
        String action = "Create them: idem schema apply, or SchemaMode.CREATE";
        if (!others.isEmpty()) {
            problem += "; others of the same names are in "
                    + String.join(", ", others.stream().map(Other::told).toList());
            action += "; or use the others: JdbcStore.builder(dataSource).schema(\"" + others.get(0).schema + "\")";
        }
        List<String> prefixes = others.isEmpty() ? prefixes(connection, tables) : List.of();
        if (!prefixes.isEmpty()) {
            problem += "; others are there with the prefix "
                    + String.join(", ", prefixes.stream().map(NoTables::quoted).toList());
            action += "; or use the others: JdbcStore.builder(dataSource).prefix(" + quoted(prefixes.get(0)) + ")";
        }
        return error(problem, action);
    }

    /** With which prefixes there are tables of ours where these were looked for: one of them may be meant. */
    private static List<String> prefixes(Connection connection, Tables tables) throws SQLException {
        List<String> names = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(PREFIXES)) {
            statement.setString(1, tables.schemaName());
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    names.add(rows.getString(1));
                }
            }
        }
        return names.stream()
                .filter(name -> name.endsWith(MARKER))
                .map(name -> name.substring(0, name.length() - MARKER.length()))
                .filter(prefix -> names.contains(prefix + "meta"))
                .limit(5)
                .toList();
    }

    private static String quoted(String text) {
        return '"' + text + '"';
    }

    private static Finding error(String problem, String action) {
        return new Finding(Finding.Severity.ERROR, "tables", problem, action);
    }

    private static String state(SQLException failure) {
        return " (SQLState " + failure.getSQLState() + ")";
    }

    private static List<Other> others(Connection connection, Tables tables) throws SQLException {
        String sql = tables.dialect().database() == Database.POSTGRESQL ? POSTGRESQL : STANDARD;
        List<Other> others = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, tables.prefix() + "meta");
            statement.setString(2, tables.schemaName());
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    others.add(new Other(rows.getString(1), rows.getBoolean(2)));
                }
            }
        }
        return others;
    }

    /** A schema that has such tables. */
    private record Other(String schema, boolean onPath) {
        private String told() {
            return "schema \"" + schema + "\"" + (onPath ? ", which is on the search path" : "");
        }
    }
}
