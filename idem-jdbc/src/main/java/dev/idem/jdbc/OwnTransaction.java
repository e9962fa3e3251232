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

    /** The commit is certain. */
    synchronized void ended() {
        open = false;
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
        } catch (SQLException | RuntimeException failure) {
            log.debug("A rollback failed; the connection is torn down", failure);
            tearDown();
        }
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

    private void restoreAutoCommit() {
        try {
            if (autoCommit && !tornDown) {
                connection.setAutoCommit(true);
            }
        } catch (SQLException | RuntimeException failure) {
            log.debug("Autocommit could not be restored; the connection is torn down", failure);
            tearDown();
        }
    }

    private synchronized boolean isOpen() {
        return open;
    }

    /** Also when torn down, because not every driver does anything at an abort, nor every pool at a close. */
    private void undo() {
        if (!isTornDown()) {
            rollBack();
        }
        if (isTornDown()) {
            try {
                connection.rollback();
            } catch (SQLException | RuntimeException gone) {
                log.trace("A torn down connection is gone, as it should be", gone);
            }
        }
    }
}
