package dev.idem.jdbc;

import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import dev.idem.jdbc.schema.Finding;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Compares the tables and columns that the script would create with those that are there. The version alone does not tell:
 * a script that was run in part, by hand or by an earlier build, leaves the right version and not the right tables, and the
 * first statement that misses a column would fail long after the start.
 */
final class SchemaParts {
    private static final Pattern TABLE =
            Pattern.compile("CREATE TABLE IF NOT EXISTS \\$\\{(\\w+)} \\((.*)\\)[^)]*", Pattern.DOTALL);
    private static final Pattern WITH = Pattern.compile("\\)\\s*(WITH|PARTITION BY)\\s*[^()]*\\([^()]*\\)\\s*$");
    private static final Pattern COLUMN = Pattern.compile("([a-z_]+)\\s+(.*)", Pattern.DOTALL);
    private static final Set<String> NO_COLUMNS = Set.of("constraint", "primary", "unique", "key", "index", "check");

    private static final String POSTGRESQL = """
            SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
            WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = '${schemaName}')
              AND c.relname IN (%s) AND a.attnum > 0 AND NOT a.attisdropped
            """;

    private static final String STANDARD = """
            SELECT table_name, column_name FROM information_schema.columns
            WHERE table_schema = '${schemaName}' AND lower(table_name) IN (%s)
            """;

    private SchemaParts() {}

    /** What is missing, table by table; an empty list is good news. */
    static List<Finding> missing(Connection connection, Tables tables, String script) throws SQLException {
        Map<String, Map<String, String>> wanted = wanted(script);
        Map<String, Set<String>> there = there(connection, tables, wanted.keySet());
        List<Finding> findings = new ArrayList<>();
        wanted.forEach((table, columns) -> {
            String name = tables.fill("${" + table + "}");
            Set<String> found = there.get(table);
            if (found == null) {
                findings.add(new Finding(
                        Finding.Severity.ERROR,
                        "table",
                        "The table " + name + " is missing, although the version is " + JdbcSchema.VERSION,
                        "Create what is missing: idem schema apply, which leaves the other tables as they are"));
                return;
            }
            columns.forEach((column, definition) -> {
                if (!found.contains(column)) {
                    findings.add(new Finding(
                            Finding.Severity.ERROR,
                            "column",
                            "The table " + name + " has no column " + column + ", although the version is "
                                    + JdbcSchema.VERSION + ": it was not created by the script of that version",
                            "No release has made such a table. If it was an unreleased build, drop the tables and create"
                                    + " them anew; or add the column: ALTER TABLE " + name + " ADD COLUMN " + column
                                    + " "
                                    + definition));
                }
            });
        });
        return findings;
    }

    /** The columns of each table by name, with what the script says about them. */
    static Map<String, Map<String, String>> wanted(String script) {
        Map<String, Map<String, String>> tables = new LinkedHashMap<>();
        for (String statement : Script.statements(script)) {
            Matcher create = TABLE.matcher(WITH.matcher(statement).replaceFirst(")"));
            if (create.matches()) {
                tables.putIfAbsent(create.group(1), columns(create.group(2)));
            }
        }
        return tables;
    }

    private static Map<String, String> columns(String body) {
        Map<String, String> columns = new LinkedHashMap<>();
        for (String part : split(body)) {
            Matcher column = COLUMN.matcher(part.strip());
            if (column.matches() && !NO_COLUMNS.contains(column.group(1).toLowerCase(Locale.ROOT))) {
                columns.put(
                        column.group(1), column.group(2).replaceAll("\\s+", " ").strip());
            }
        }
        return columns;
    }

    /** At commas outside of parentheses. */
    private static List<String> split(String body) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int i = 0; i < body.length(); i++) {
            char c = body.charAt(i);
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (c == ',' && depth == 0) {
                parts.add(body.substring(from, i));
                from = i + 1;
            }
        }
        parts.add(body.substring(from));
        return parts;
    }

    private static Map<String, Set<String>> there(Connection connection, Tables tables, Set<String> wanted)
            throws SQLException {
        String prefix = tables.prefix().name().toLowerCase(Locale.ROOT);
        String names = "'"
                + String.join(
                        "', '", wanted.stream().map(table -> prefix + table).toList()) + "'";
        boolean postgres = tables.dialect().database() == Database.POSTGRESQL;
        String sql = tables.fill(postgres ? POSTGRESQL : STANDARD).formatted(names);
        Map<String, Set<String>> found = new LinkedHashMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                String table = rows.getString(1).toLowerCase(Locale.ROOT).substring(prefix.length());
                found.computeIfAbsent(table, t -> new LinkedHashSet<>())
                        .add(rows.getString(2).toLowerCase(Locale.ROOT));
            }
        }
        return found;
    }
}
