package dev.idem.jdbc;

import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * How tests look into a database, many times a second where they wait for something: over a connection that stays open, as
 * a new one costs a server more than the look. One that is lost is replaced; who comes while another one looks, or looks
 * into H2, has one of his own.
 */
final class Look implements AutoCloseable {
    private final Database kind;
    private final String url;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Connection kept;

    Look(Database kind, String url) {
        this.kind = kind;
        this.url = url;
    }

    interface Reading<T> {
        T of(ResultSet rows) throws SQLException;
    }

    /** The first row of a query. */
    <T> T at(String sql, Reading<T> reading) {
        try {
            if (kind == Database.H2 || !lock.tryLock()) {
                return alone(sql, reading);
            }
            try {
                return kept(sql, reading);
            } finally {
                lock.unlock();
            }
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private <T> T kept(String sql, Reading<T> reading) throws SQLException {
        Connection connection = kept;
        if (connection != null) {
            try {
                return first(connection, sql, reading);
            } catch (SQLException failure) {
                if (connection.isValid(5)) {
                    throw failure;
                }
                close();
            }
        }
        Connection fresh = DriverManager.getConnection(url);
        kept = fresh;
        return first(fresh, sql, reading);
    }

    private <T> T alone(String sql, Reading<T> reading) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url)) {
            return first(connection, sql, reading);
        }
    }

    private static <T> T first(Connection connection, String sql, Reading<T> reading) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return reading.of(rows);
        }
    }

    @Override
    public void close() {
        lock.lock();
        try (Connection ending = kept) {
            kept = null;
        } catch (SQLException gone) {
            return; // as it should be
        } finally {
            lock.unlock();
        }
    }
}
