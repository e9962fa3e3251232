package dev.idem.jdbc.internal.sql;

import dev.idem.jdbc.schema.Finding;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;

/**
 * One start-up check as data.
 *
 * @param sql returns a row, whose first column says what was found, exactly when something is wrong
 */
public record Check(Finding.Severity severity, String name, String sql, String problem, String action) {
    /** In an action, the statements that give the role what it needs. */
    static final String GRANTS = "${grants}";

    public static Check error(String name, String sql, String problem, String action) {
        return new Check(Finding.Severity.ERROR, name, sql, problem, action);
    }

    public static Check warning(String name, String sql, String problem, String action) {
        return new Check(Finding.Severity.WARNING, name, sql, problem, action);
    }

    public Optional<Finding> run(Connection connection, Tables tables) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(tables.fill(sql))) {
            if (!rows.next()) {
                return Optional.empty();
            }
            String found = rows.getString(1);
            String grants = action.contains(GRANTS) ? Grants.statements(connection, tables) : "";
            return Optional.of(new Finding(
                    severity,
                    name,
                    tables.fill(problem) + " (" + found + ")",
                    tables.fill(action).replace(GRANTS, grants)));
        }
    }
}
