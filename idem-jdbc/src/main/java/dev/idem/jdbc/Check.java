package dev.idem.jdbc;

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
record Check(Finding.Severity severity, String name, String sql, String problem, String action) {
    static Check error(String name, String sql, String problem, String action) {
        return new Check(Finding.Severity.ERROR, name, sql, problem, action);
    }

    static Check warning(String name, String sql, String problem, String action) {
        return new Check(Finding.Severity.WARNING, name, sql, problem, action);
    }

    Optional<Finding> run(Connection connection, Tables tables) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(tables.fill(sql))) {
            return rows.next()
                    ? Optional.of(new Finding(
                            severity, name, tables.fill(problem) + " (" + rows.getString(1) + ")", tables.fill(action)))
                    : Optional.empty();
        }
    }
}
