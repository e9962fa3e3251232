package dev.idem.test.fault;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

/** A new in-memory database with one table, {@code effect(id)}, and ways to look at it past all faults. */
final class TestDatabase {
    private final JdbcDataSource real = new JdbcDataSource();

    TestDatabase() throws SQLException {
        real.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        execute("CREATE TABLE effect (id VARCHAR(100))");
    }

    DataSource dataSource() {
        return real;
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = real.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    int effects() throws SQLException {
        return number("SELECT count(*) FROM effect");
    }

    /** How many connections are open, without the one that asks. */
    int connections() throws SQLException {
        return number("SELECT count(*) FROM information_schema.sessions") - 1;
    }

    private int number(String sql) throws SQLException {
        try (Connection connection = real.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getInt(1);
        }
    }
}
