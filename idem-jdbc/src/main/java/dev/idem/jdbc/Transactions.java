package dev.idem.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/** Short transactions of the store's own, apart from any unit. */
final class Transactions {
    private Transactions() {}

    /** Runs in a transaction and leaves the connection as it was; commits unless the body throws. */
    static <T> T alone(Connection connection, Body<T> body) throws SQLException {
        boolean autoCommit = connection.getAutoCommit();
        if (autoCommit) {
            connection.setAutoCommit(false);
        }
        try {
            T result = body.run();
            connection.commit();
            return result;
        } catch (SQLException | RuntimeException | Error failure) {
            quietly(connection::rollback, failure);
            throw failure;
        } finally {
            if (autoCommit && !connection.isClosed()) {
                connection.setAutoCommit(true);
            }
        }
    }

    static void quietly(Call call, Throwable failure) {
        try {
            call.run();
        } catch (SQLException | RuntimeException secondary) {
            if (failure != secondary) { // some drivers throw one instance twice
                failure.addSuppressed(secondary);
            }
        }
    }

    @FunctionalInterface
    interface Body<T> {
        T run() throws SQLException;
    }

    @FunctionalInterface
    interface Call {
        void run() throws SQLException;
    }
}
