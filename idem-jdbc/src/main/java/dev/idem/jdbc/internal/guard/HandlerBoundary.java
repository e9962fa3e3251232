package dev.idem.jdbc.internal.guard;

import java.sql.SQLException;

/** For the connection a handler is given itself: whoever holds it knows that it is Idem's, so each attempt is a mistake. */
final class HandlerBoundary implements Boundary {
    @Override
    public void commit() throws SQLException {
        throw Guard.refused("commit()", "Idem commits when the handler returns");
    }

    @Override
    public void rollback() throws SQLException {
        throw Guard.refused("rollback()", "Throw an exception: then Idem rolls back and nothing is left");
    }

    @Override
    public boolean autoCommit() {
        return false;
    }

    @Override
    public void autoCommit(boolean on) throws SQLException {
        if (on) {
            throw Guard.refused("setAutoCommit(true)", "It would commit; Idem commits when the handler returns");
        }
    }

    @Override
    public void executed() {}

    @Override
    public void close() throws SQLException {
        throw Guard.refused("close()", "The connection is Idem's; do not put it into try-with-resources");
    }

    @Override
    public boolean isClosed() {
        return false;
    }
}
