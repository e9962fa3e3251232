package dev.idem.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** A serialization failure that the database itself reports, of this connection. */
public final class Undone {
    private Undone() {}

    static void by(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        try (Statement statement = connection.createStatement()) {
            statement.execute(
                    switch (product) {
                        case "PostgreSQL" -> "DO $$ BEGIN RAISE EXCEPTION 'undone' USING ERRCODE = '40001'; END $$";
                        case "H2" -> "CALL undone()";
                        default -> "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213";
                    });
        }
    }

    /** Called by H2. */
    public static int raise() throws SQLException {
        throw new SQLException("undone", "40001", 40001);
    }
}
