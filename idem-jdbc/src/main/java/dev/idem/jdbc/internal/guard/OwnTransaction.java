package dev.idem.jdbc.internal.guard;

import dev.idem.jdbc.internal.sql.StoreLog;
import dev.idem.jdbc.internal.sql.Transactions;
import java.sql.Connection;
import java.sql.SQLException;
import org.slf4j.Logger;

/**
 * A connection taken for one unit, until it is given back:
 *
 * <pre>
 *   ACTIVE ◄──────► ENDED      a statement after the end begins anew
 *      │              │
 *      ├──► TORN_DOWN │        by a deadline on another thread, or when an end is uncertain; no way back
 *      ▼        ▼     ▼
 *           CLOSED             given back once, whatever happened before
 * </pre>
 *
 * Many pools hand out the same object again, so a connection that was given back is somebody else's: nothing here touches
 * it any more. One thread owns the transaction; {@link #tearDown} may come from any.
 */
public final class OwnTransaction implements AutoCloseable {
    private static final Logger log = StoreLog.LOG;

    private final Connection connection;
    private final boolean autoCommit;
    private State state = State.ACTIVE;

    private enum State {
        /** Something may be open, and is undone before the connection is given back. */
        ACTIVE,
        /** The end is certain: committed, or rolled back. */
        ENDED,
        /** The physical connection was ended; the server rolls back. */
        TORN_DOWN,
        /** Given back. */
        CLOSED
    }

    private OwnTransaction(Connection connection, boolean autoCommit) {
        this.connection = connection;
        this.autoCommit = autoCommit;
    }

    public static OwnTransaction begin(Connection connection) throws SQLException {
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

    public Connection connection() {
        if (state() == State.CLOSED) {
            throw new IllegalStateException("The connection was given back, and may be in another transaction now");
        }
        return connection;
    }

    /** The end is certain: committed, or rolled back. */
    public void ended() {
        move(State.ACTIVE, State.ENDED);
    }

    /** A statement after the end begins anew. */
    public void reopened() {
        move(State.ENDED, State.ACTIVE);
    }

    /** Whether the next statement can reach the database in this transaction, or begin one. */
    public synchronized boolean isUsable() {
        return state == State.ACTIVE || state == State.ENDED;
    }

    private synchronized State state() {
        return state;
    }

    /** Only from that state: whatever else it is in now, it came there by a step that cannot be taken back. */
    private synchronized void move(State from, State to) {
        if (state == from) {
            state = to;
        }
    }

    public void rollBack() {
        if (!isUsable()) {
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
    public boolean lookAfterEnd(Look look) {
        if (!isUsable()) {
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
    public interface Look {
        boolean at(Connection connection) throws SQLException;
    }

    /** Ends the physical connection; the server then rolls back. Safe from any thread, and after the end. */
    public synchronized void tearDown() {
        if (!isUsable()) {
            return;
        }
        state = State.TORN_DOWN;
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
            if (state() == State.ACTIVE) {
                rollBack();
            }
        } finally {
            giveBack();
        }
    }

    /** Holds the lock until the end, so that a deadline can never hit a connection that has gone back to the pool. */
    private synchronized void giveBack() {
        if (state == State.CLOSED) {
            return;
        }
        try {
            if (state == State.TORN_DOWN) {
                undoTornDown();
            }
            restoreAutoCommit();
        } finally {
            state = State.CLOSED;
            try {
                connection.close();
            } catch (SQLException | RuntimeException failure) {
                log.debug("A connection could not be given back", failure);
            }
        }
    }

    /** Not every driver does anything at an abort, nor every pool at a close. */
    private void undoTornDown() {
        try {
            connection.rollback();
            state = State.ENDED;
        } catch (SQLException | RuntimeException gone) {
            log.trace("A torn down connection is gone, as it should be", gone);
        }
    }

    /** Never on a transaction whose end is not certain, because switching autocommit on would commit it. */
    private void restoreAutoCommit() {
        try {
            if (autoCommit && state == State.ENDED) {
                connection.setAutoCommit(true);
            }
        } catch (SQLException | RuntimeException failure) {
            log.debug("Autocommit could not be restored; the connection is torn down", failure);
            tearDown();
        }
    }
}
