package dev.idem.jdbc.internal.guard;

import java.sql.SQLException;

/**
 * How a guarded connection answers whoever wants to begin or end a transaction on it: the transaction is Idem's, and is
 * running.
 */
interface Boundary {
    void commit() throws SQLException;

    void rollback() throws SQLException;

    boolean autoCommit();

    void autoCommit(boolean on) throws SQLException;

    /** A statement was sent through the connection. */
    void executed() throws SQLException;

    void close() throws SQLException;

    boolean isClosed();
}
