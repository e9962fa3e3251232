package dev.idem.torture;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;

/** A clock of the database that jumps: the workers' statements ask a function for the time, and it is told what to say. */
final class Clock {
    private static final String REAL = "clock_timestamp()";
    private static final String NOW = "torture_now()";

    private Clock() {}

    static void create(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE torture_clock (ahead interval NOT NULL)");
            statement.execute("INSERT INTO torture_clock VALUES ('0')");
            statement.execute("CREATE FUNCTION " + NOW + " RETURNS timestamptz LANGUAGE sql VOLATILE"
                    + " AS 'SELECT clock_timestamp() + ahead FROM torture_clock'");
        }
    }

    /** @param told that a statement has asked for the time */
    static DataSource around(DataSource dataSource, Runnable told) {
        return EditedSql.of(dataSource, List.of(new EditedSql.Edit(REAL, NOW)), edit -> told.run());
    }

    /** From now on it is so much ahead of the real one, or behind it. */
    static void set(String url, Duration ahead) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                PreparedStatement update =
                        connection.prepareStatement("UPDATE torture_clock SET ahead = ? * interval '1 millisecond'")) {
            update.setLong(1, ahead.toMillis());
            update.executeUpdate();
        }
    }
}
