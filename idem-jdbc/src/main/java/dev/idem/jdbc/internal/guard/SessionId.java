package dev.idem.jdbc.internal.guard;

import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Tells whether two connections are the same session of the database, whatever wraps them. */
public record SessionId(String sql) {
    public static SessionId of(Database database) {
        return new SessionId(
                switch (database) {
                    case POSTGRESQL -> "SELECT pg_backend_pid()";
                    case MARIADB -> "SELECT CONNECTION_ID()";
                    case H2 -> "SELECT SESSION_ID()";
                });
    }

    long on(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    /** Asks the database only where the objects do not tell. One that cannot be asked is called another one. */
    boolean isSame(Connection one, Connection other) {
        Connection first = Condemnable.behind(one);
        Connection second = Condemnable.behind(other);
        if (first == second) {
            return true;
        }
        try {
            return on(first) == on(second);
        } catch (SQLException | RuntimeException unusable) {
            return false;
        }
    }
}
