package dev.idem.jdbc.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;

/** Short transactions of the store's own, apart from any unit. */
public final class Transactions {
    private static final int TRIES = 5;

    private Transactions() {}

    /** Runs in a transaction and leaves the connection as it was; commits unless the body throws. */
    public static <T> T alone(Connection connection, Body<T> body) throws SQLException {
        boolean autoCommit = connection.getAutoCommit();
        if (autoCommit) {
            connection.setAutoCommit(false);
        }
        T result;
        try {
            result = body.run();
            connection.commit();
        } catch (SQLException | RuntimeException | Error failure) {
            quietly(() -> undo(connection, autoCommit), failure);
            throw failure;
        }
        if (autoCommit) {
            connection.setAutoCommit(true);
        }
        return result;
    }

    /** Autocommit only after the rollback: switching it on would commit what was not rolled back. */
    private static void undo(Connection connection, boolean autoCommit) throws SQLException {
        connection.rollback();
        if (autoCommit) {
            connection.setAutoCommit(true);
        }
    }

    /** Runs it again when it gave way to another transaction: all of it was undone, so nothing is done twice. */
    public static <T> T untilThrough(SqlFaults faults, Body<T> body) throws SQLException {
        for (int i = 1; ; i++) {
            try {
                return body.run();
            } catch (SQLException failure) {
                if (i == TRIES || !faults.isUndone(failure)) {
                    throw failure;
                }
            }
        }
    }

    public static void quietly(Call call, Throwable failure) {
        try {
            call.run();
        } catch (SQLException | RuntimeException secondary) {
            if (failure != secondary) { // some drivers throw one instance twice
                failure.addSuppressed(secondary);
            }
        }
    }

    @FunctionalInterface
    public interface Body<T> {
        T run() throws SQLException;
    }

    @FunctionalInterface
    public interface Call {
        void run() throws SQLException;
    }
}
