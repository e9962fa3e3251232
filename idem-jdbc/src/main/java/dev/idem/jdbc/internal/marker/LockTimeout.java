package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.sql.BatchSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** How long a connection waits for locks, where a claim cannot say it itself; put back when closed. */
record LockTimeout(Connection connection, String before) implements AutoCloseable {
    static LockTimeout of(Connection connection, BatchSql sql, long wait) throws SQLException {
        if (sql.setLockTimeout().isEmpty()) {
            return new LockTimeout(connection, "");
        }
        try (Statement statement = connection.createStatement()) {
            String before;
            try (ResultSet row = statement.executeQuery(sql.readLockTimeout())) {
                row.next();
                before = sql.setLockTimeout() + row.getLong(1);
            }
            statement.execute(sql.setLockTimeout() + wait);
            return new LockTimeout(connection, before);
        }
    }

    @Override
    public void close() throws SQLException {
        if (!before.isEmpty()) {
            try (Statement statement = connection.createStatement()) {
                statement.execute(before);
            }
        }
    }
}
