package dev.idem.test.fault;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** What faults do to a real connection. */
final class Damage {
    private Damage() {}

    /** Ends the physical connection without a commit, as a broken network would. */
    static void tear(Connection connection) {
        quietly(() -> connection.abort(Runnable::run));
        // H2 does not implement abort, and a pool underneath learns of it only from a call that fails.
        quietly(() -> {
            if (!connection.isClosed()) {
                connection.rollback();
            }
        });
        quietly(connection::close);
    }

    static void rollBack(Connection connection) {
        quietly(() -> {
            if (!connection.getAutoCommit()) {
                connection.rollback();
                return;
            }
            // A transaction may have been begun by SQL text; then rollback() is refused by some drivers.
            try (Statement statement = connection.createStatement()) {
                statement.execute("ROLLBACK");
            }
        });
    }

    private interface Attempt {
        void run() throws SQLException;
    }

    private static void quietly(Attempt attempt) {
        try {
            attempt.run();
        } catch (SQLException | RuntimeException alreadyBroken) {
            // The connection is to be broken: that it already is, is no news.
        }
    }
}
