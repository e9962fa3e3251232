package dev.idem.jdbc.internal.guard;

import java.sql.SQLException;

/**
 * For connections out of a data source: lets a data library keep its own transactions, which become part of Idem's. The
 * connection looks like any other: it starts with autocommit on and may be switched, committed, rolled back and closed.
 *
 * <ul>
 *   <li>A commit does nothing yet: the work is durable when Idem commits, after the handler.
 *   <li>A rollback cannot undo a part, so it condemns the whole: no statement gets through any more, and a handler that
 *       returns as if nothing had happened is refused. What a library rolls back can never end in an acknowledgement.
 *   <li>Closing the connection with work that was neither committed nor rolled back counts as a rollback, because that is
 *       what becomes of such work on a connection of a pool.
 *   <li>So does leaving it open with such work when the handler returns.
 *   <li>Savepoints are real, so libraries that nest with them can undo a part.
 *   <li>A second transaction beside an open one is refused: it could not end on its own.
 * </ul>
 */
final class LibraryBoundary implements Boundary {
    private final Guard guard;
    private boolean autoCommit = true;
    private boolean pending;
    private volatile boolean closed;

    LibraryBoundary(Guard guard) {
        this.guard = guard;
    }

    @Override
    public void commit() throws SQLException {
        guard.checkUsable(); // it would promise what cannot be kept
        pending = false;
        guard.end(this);
    }

    /** With nothing sent since the last commit there is nothing to undo; some libraries roll back to be sure. */
    @Override
    public void rollback() {
        if (pending) {
            guard.condemn("A library rolled back");
        }
        pending = false;
        guard.end(this);
    }

    /** Whether something was sent that its library has neither committed nor rolled back. */
    boolean isPending() {
        return pending;
    }

    @Override
    public boolean autoCommit() {
        return autoCommit;
    }

    /** Switching it on is never refused: libraries do it to clean up, also after a rollback. Switching commits, as JDBC says. */
    @Override
    public void autoCommit(boolean on) throws SQLException {
        if (on) {
            guard.end(this);
        } else {
            guard.begin(this);
        }
        pending = pending && on == autoCommit;
        autoCommit = on;
    }

    @Override
    public void executed() throws SQLException {
        if (!autoCommit) {
            guard.begin(this);
        }
        pending = true;
    }

    @Override
    public void close() {
        if (pending && !autoCommit && !closed) {
            guard.condemn("A library closed a connection without commit");
        }
        closed = true;
        guard.end(this);
    }

    @Override
    public boolean isClosed() {
        return closed;
    }
}
