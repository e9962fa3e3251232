package dev.idem.test;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All rows of all tables, as text and in no order. */
record Contents(Map<String, Rows> tables) {
    private static final int SHOWN_ROWS = 5;
    private static final int SHOWN_CHARS = 60;

    record Rows(List<String> columns, List<List<String>> rows) {
        /** What is here and not there, counting repeated rows. */
        List<List<String>> without(Rows other) {
            List<List<String>> rest = new ArrayList<>(rows);
            other.rows.forEach(rest::remove);
            return rest;
        }

        private List<String> column(int index) {
            List<String> values = new ArrayList<>();
            rows.forEach(row -> values.add(row.get(index)));
            Collections.sort(values);
            return values;
        }

        private String show(List<String> row) {
            List<String> shown = new ArrayList<>();
            for (int i = 0; i < row.size(); i++) {
                String value = row.get(i);
                shown.add(columns.get(i) + "="
                        + (value.length() > SHOWN_CHARS ? value.substring(0, SHOWN_CHARS) + "…" : value));
            }
            return row.isEmpty() ? "(a row of which every column is ignored)" : String.join(", ", shown);
        }
    }

    static Contents read(Connection connection, List<SchemaTables.Table> tables) throws SQLException {
        Map<String, Rows> contents = new LinkedHashMap<>();
        for (SchemaTables.Table table : tables) {
            contents.put(table.name(), read(connection, table));
        }
        return new Contents(contents);
    }

    private static Rows read(Connection connection, SchemaTables.Table table) throws SQLException {
        List<List<String>> rows = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery("SELECT * FROM " + table.sql())) {
            while (found.next()) {
                List<String> row = new ArrayList<>();
                for (String column : table.columns()) {
                    row.add(text(found, column));
                }
                rows.add(row);
            }
        }
        return new Rows(table.columns(), rows);
    }

    private static String text(ResultSet row, String column) throws SQLException {
        Object value = row.getObject(column);
        if (value instanceof byte[] bytes) {
            return "0x" + HexFormat.of().formatHex(bytes);
        }
        if (value instanceof java.sql.Blob blob) {
            return "0x" + HexFormat.of().formatHex(blob.getBytes(1, (int) blob.length()));
        }
        return value == null ? "NULL" : String.valueOf(row.getString(column));
    }

    /** The lines to show a person when these contents are not the expected ones; none if they are. */
    List<String> differencesFrom(Contents expected) {
        List<String> lines = new ArrayList<>();
        tables.forEach((name, rows) -> {
            Rows wanted = expected.table(name);
            List<List<String>> extra = rows.without(wanted);
            List<List<String>> missing = wanted.without(rows);
            if (!extra.isEmpty() || !missing.isEmpty()) {
                lines.add("table " + name + ": " + missing.size() + " row(s) missing, " + extra.size() + " too many");
                show(lines, "  missing  ", rows, missing);
                show(lines, "  too many ", rows, extra);
            }
        });
        return lines;
    }

    private static void show(List<String> lines, String label, Rows table, List<List<String>> rows) {
        rows.stream().limit(SHOWN_ROWS).forEach(row -> lines.add(label + table.show(row)));
        if (rows.size() > SHOWN_ROWS) {
            lines.add(label + "and " + (rows.size() - SHOWN_ROWS) + " more");
        }
    }

    /** The columns that alone make the difference; none if the numbers of rows differ as well. */
    List<String> changingColumns(Contents other) {
        List<String> columns = new ArrayList<>();
        for (String name : tables.keySet()) {
            Rows here = table(name);
            Rows there = other.table(name);
            if (here.rows().size() != there.rows().size()) {
                return List.of();
            }
            for (int i = 0; i < here.columns().size(); i++) {
                if (!here.column(i).equals(there.column(i))) {
                    columns.add(name + "." + here.columns().get(i));
                }
            }
        }
        return columns;
    }

    private Rows table(String name) {
        return tables.getOrDefault(name, new Rows(List.of(), List.of()));
    }
}
