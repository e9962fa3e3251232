package dev.idem.jdbc.internal.sql;

import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The statements that give the account of a service what it needs, and nothing else; as docs/operations.md lists it. Stateless. */
public final class Grants {
    private static final String ALL = "SELECT, INSERT, UPDATE, DELETE";

    /** By table, in the order of the script. */
    private static final Map<String, String> SERVICE = rights(
            "meta: SELECT, UPDATE",
            "consumer: SELECT, INSERT",
            "marker: " + ALL,
            "result: " + ALL,
            "retention: SELECT, INSERT, UPDATE",
            "watermark: SELECT, INSERT, UPDATE",
            "sequence: SELECT, INSERT, UPDATE",
            "queue: " + ALL,
            "worker: " + ALL,
            "attempt: SELECT, INSERT, DELETE",
            "step: " + ALL,
            "archive: SELECT, INSERT, DELETE",
            "audit: INSERT",
            "replay: SELECT, UPDATE",
            "revision: SELECT, DELETE",
            "witness: " + ALL);

    private Grants() {}

    private static Map<String, String> rights(String... lines) {
        Map<String, String> rights = new LinkedHashMap<>();
        for (String line : lines) {
            rights.put(line.substring(0, line.indexOf(':')), line.substring(line.indexOf(' ') + 1));
        }
        return rights;
    }

    /** What the account of a service may do with each table. */
    public static Map<String, String> ofService(Database database) {
        Map<String, String> rights = new LinkedHashMap<>(SERVICE);
        if (database == Database.MARIADB) {
            rights.put("consumer", "SELECT, INSERT, UPDATE");
            rights.put("line", "SELECT, UPDATE");
            rights.put("run", "SELECT, INSERT, DELETE");
        }
        return rights;
    }

    /** The statements for the account of this connection. */
    public static String statements(Connection connection, Tables tables) throws SQLException {
        Database database = tables.dialect().database();
        String role = role(connection, database);
        Map<String, List<String>> byRights = new LinkedHashMap<>();
        ofService(database)
                .forEach((table, rights) -> byRights.computeIfAbsent(rights, none -> new ArrayList<>())
                        .add(tables.fill("${" + table + "}")));
        List<String> statements = new ArrayList<>();
        byRights.forEach((rights, names) -> {
            List<String> each = database == Database.MARIADB ? names : List.of(String.join(", ", names));
            each.forEach(name -> statements.add("GRANT " + rights + " ON " + name + " TO " + role));
        });
        return String.join("; ", statements);
    }

    /** As a GRANT names it. */
    public static String role(Connection connection, Database database) throws SQLException {
        String sql = database == Database.POSTGRESQL ? "SELECT quote_ident(current_user)" : "SELECT CURRENT_USER()";
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            String name = row.getString(1);
            if (database == Database.H2) {
                return '"' + name + '"';
            }
            int host = name.lastIndexOf('@');
            return database == Database.MARIADB && host >= 0
                    ? "'" + name.substring(0, host) + "'@'" + name.substring(host + 1) + "'"
                    : name;
        }
    }
}
