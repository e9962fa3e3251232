package dev.idem.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection taken for one unit. Its end is guarded by a lock, because a deadline on another thread may tear it down,
 * and must never hit a connection that has gone back to the pool.
 */
final class OwnTransaction implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);

    private final Connection connection;
    private final boolean autoCommit;
    private boolean open = true;
    private boolean tornDown;
    private boolean closed;

    private OwnTransaction(Connection connection, boolean autoCommit) {
        this.connection = connection;
        this.autoCommit = autoCommit;
    }

    static OwnTransaction begin(Connection connection) throws SQLException {
        try {
            boolean autoCommit = connection.getAutoCommit();
            if (autoCommit) {
                connection.setAutoCommit(false);
            } else {
                connection.rollback(); // what somebody left on the connection must not be committed with our work
            }
            return new OwnTransaction(connection, autoCommit);
        } catch (SQLException | RuntimeException | Error failure) {
            Transactions.quietly(connection::close, failure);
            throw failure;
        }
    }

    Connection connection() {
        return connection;
    }

    /** The end is certain: committed, or rolled back. */
    synchronized void ended() {
        open = false;
    }

    /** A statement after the end begins anew. */
    synchronized void reopened() {
        open = true;
    }

    synchronized boolean isTornDown() {
        return tornDown;
    }

    void rollBack() {
        if (isTornDown()) {
            return;
        }
        try {
            connection.rollback();
            ended();
        } catch (SQLException | RuntimeException | Error failure) {
            log.debug("A rollback failed; the connection is torn down", failure);
            tearDown();
            if (failure instanceof Error error) {
                throw error;
            }
        }
    }

    /** Asks the database something after a rollback. False on a lost connection, where only the next claim can tell. */
    boolean lookAfterEnd(Look look) {
        if (isTornDown()) {
            return false;
        }
        try {
            reopened();
            boolean answer = look.at(connection);
            rollBack();
            return answer;
        } catch (SQLException failure) {
            tearDown();
            return false;
        }
    }

    @FunctionalInterface
    interface Look {
        boolean at(Connection connection) throws SQLException;
    }

    /** Ends the physical connection; the server then rolls back. Safe from any thread, and after the end. */
    synchronized void tearDown() {
        if (tornDown || closed) {
            return;
        }
        tornDown = true;
        try {
            connection.abort(Runnable::run);
            if (!connection.isClosed()) {
                // H2 ignores abort, and the key would stay held for as long as the late handler runs.
                connection.rollback();
            }
        } catch (SQLException | RuntimeException | AbstractMethodError failure) {
            log.debug("A connection could not be aborted", failure);
        }
    }

    /** Gives the connection back whatever happens: one that is not closed is missing from its pool for ever. */
    @Override
    public void close() {
        try {
            if (isOpen()) {
                undo();
            }
        } finally {
            giveBack();
        }
    }

    private synchronized boolean isOpen() {
        return open;
    }

    /** Also when torn down, because not every driver does anything at an abort, nor every pool at a close. */
    private void undo() {
        rollBack();
        if (isTornDown()) {
            try {
                connection.rollback();
            } catch (SQLException | RuntimeException gone) {
                log.trace("A torn down connection is gone, as it should be", gone);
            }
        }
    }

    private synchronized void giveBack() {
        try {
            restoreAutoCommit();
        } finally {
            closed = true;
            try {
                connection.close();
            } catch (SQLException | RuntimeException failure) {
                log.debug("A connection could not be given back", failure);
            }
        }
    }

    /** Never on a transaction whose end is not certain, because switching autocommit on would commit it. */
    private void restoreAutoCommit() {
        try {
            if (autoCommit && !tornDown && !open) {
                connection.setAutoCommit(true);
            }
        } catch (SQLException | RuntimeException failure) {
            log.debug("Autocommit could not be restored; the connection is torn down", failure);
            tearDown();
        }
    }
}
