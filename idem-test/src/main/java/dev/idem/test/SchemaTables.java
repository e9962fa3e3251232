package dev.idem.test;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The tables of the schema a connection is in, found by plain JDBC metadata.
 *
 * @param users the user's tables
 * @param stores the store's tables that hold messages, not those that hold what the store is
 */
record SchemaTables(List<Table> users, List<Table> stores) {

    /**
     * One table.
     *
     * @param sql its name, qualified and quoted
     * @param columns what to compare, in order
     */
    record Table(String name, String sql, List<String> columns) {}

    List<Table> all() {
        List<Table> all = new ArrayList<>(stores);
        all.addAll(users);
        return all;
    }

    static SchemaTables read(Connection connection, Setting setting) throws SQLException {
        return new Reader(connection, setting).read();
    }

    private static final class Reader {
        private static final Set<String> STORE_IDENTITY = Set.of("meta", "consumer");

        private final DatabaseMetaData metaData;
        private final @Nullable String catalog;
        private final @Nullable String schema;
        private final Set<String> ignoredColumns;
        private final Set<String> ignoredTables;
        private final String prefix;

        Reader(Connection connection, Setting setting) throws SQLException {
            metaData = connection.getMetaData();
            catalog = connection.getCatalog();
            schema = connection.getSchema();
            ignoredColumns = lower(setting.ignoredColumns);
            ignoredTables = lower(setting.ignoredTables);
            prefix = lower(setting.storePrefix);
        }

        SchemaTables read() throws SQLException {
            List<Table> users = new ArrayList<>();
            List<Table> stores = new ArrayList<>();
            for (String name : names()) {
                String lower = lower(name);
                if (!lower.startsWith(prefix)) {
                    users.add(new Table(name, qualified(name), columns(name)));
                } else if (!STORE_IDENTITY.contains(lower.substring(prefix.length()))) {
                    stores.add(new Table(name, qualified(name), List.of()));
                }
            }
            return new SchemaTables(users, stores);
        }

        private List<String> names() throws SQLException {
            List<String> names = new ArrayList<>();
            try (ResultSet tables = metaData.getTables(catalog, schema, "%", null)) {
                while (tables.next()) {
                    String name = tables.getString("TABLE_NAME");
                    String type = tables.getString("TABLE_TYPE").toUpperCase(Locale.ROOT);
                    boolean ordinary =
                            type.equals("TABLE") || type.equals("BASE TABLE") || type.equals("PARTITIONED TABLE");
                    if (ordinary && !ignoredTables.contains(lower(name))) {
                        names.add(name);
                    }
                }
            }
            return names;
        }

        private List<String> columns(String table) throws SQLException {
            Set<String> columns = new LinkedHashSet<>();
            Set<String> generated = new LinkedHashSet<>();
            try (ResultSet found = metaData.getColumns(catalog, schema, escaped(table), "%")) {
                while (found.next()) {
                    String column = found.getString("COLUMN_NAME");
                    columns.add(column);
                    if ("YES".equals(found.getString("IS_AUTOINCREMENT"))) {
                        generated.add(column);
                    }
                }
            }
            generated.addAll(references(table));
            columns.removeAll(generated);
            columns.removeIf(column ->
                    ignoredColumns.contains(lower(column)) || ignoredColumns.contains(lower(table + "." + column)));
            return List.copyOf(columns);
        }

        /** The columns that refer to a generated number of another table. */
        private Set<String> references(String table) throws SQLException {
            Set<String> columns = new LinkedHashSet<>();
            try (ResultSet keys = metaData.getImportedKeys(catalog, schema, table)) {
                while (keys.next()) {
                    if (isGenerated(keys.getString("PKTABLE_NAME"), keys.getString("PKCOLUMN_NAME"))) {
                        columns.add(keys.getString("FKCOLUMN_NAME"));
                    }
                }
            }
            return columns;
        }

        private boolean isGenerated(String table, String column) throws SQLException {
            try (ResultSet found = metaData.getColumns(catalog, schema, escaped(table), escaped(column))) {
                return found.next() && "YES".equals(found.getString("IS_AUTOINCREMENT"));
            }
        }

        /** Metadata take patterns, in which an underscore stands for any character. */
        private String escaped(String name) throws SQLException {
            String escape = metaData.getSearchStringEscape();
            return name.replace(escape, escape + escape)
                    .replace("_", escape + "_")
                    .replace("%", escape + "%");
        }

        private String qualified(String table) throws SQLException {
            return schema == null ? quoted(table) : quoted(schema) + "." + quoted(table);
        }

        private String quoted(String name) throws SQLException {
            String quote = metaData.getIdentifierQuoteString().strip();
            return quote + name.replace(quote, quote + quote) + quote;
        }

        private static Set<String> lower(Set<String> names) {
            Set<String> lower = new LinkedHashSet<>();
            names.forEach(name -> lower.add(lower(name)));
            return lower;
        }

        private static String lower(String name) {
            return name.toLowerCase(Locale.ROOT);
        }
    }
}
