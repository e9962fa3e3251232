package dev.idem.jdbc.internal.guard;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Optional;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The data source that knows the running handler: on its thread it hands out the handler's transaction, elsewhere an
 * ordinary connection, which is only {@linkplain TrackedConnection watched}. Bound by the claim, unbound when the handler's connection is revoked. A unit that joins another
 * one covers it until then.
 */
public final class HandlerConnections implements DataSource {
    private final DataSource real;
    private final SessionId session;

    @SuppressWarnings("ThreadLocalUsage") // not static: two stores in one process must not mix
    private final ThreadLocal<@Nullable Guard> running = new ThreadLocal<>();

    private final ThreadTransactions transactions = new ThreadTransactions();

    public HandlerConnections(DataSource real, SessionId session) {
        this.real = real;
        this.session = session;
    }

    /** Whether the calling thread has a transaction open on a connection of this data source, outside of any handler. */
    public boolean isTransactionOpenHere() {
        return transactions.isOpenHere(any -> true);
    }

    /** Whether the calling thread runs a handler now. */
    public boolean isHandlerHere() {
        return running.get() != null;
    }

    /** What else than the transaction of that connection is open on the calling thread: a handler's, or one of this source. */
    public Optional<String> openBeside(Connection outer) {
        Guard guard = running.get();
        if (guard != null) {
            return isSame(guard.real(), outer)
                    ? Optional.empty()
                    : Optional.of(
                            "the transaction of the handler that runs here, which inbox.within(tx.connection()) joins");
        }
        return transactions.isOpenHere(open -> !session.isSame(open, outer))
                ? Optional.of("a transaction of store.dataSource()")
                : Optional.empty();
    }

    /** Whether both lead to one session of the database. What is asked for that may itself ask here. */
    public boolean isSame(Connection one, Connection other) {
        Guard guard = running.get();
        running.set(null);
        try {
            return session.isSame(one, other);
        } finally {
            running.set(guard);
        }
    }

    private boolean isOf(Guard guard, Connection ordinary) {
        if (guard.isKnownOn(ordinary)) {
            return true;
        }
        boolean same = isSame(guard.real(), ordinary);
        if (same) {
            guard.knowOn(ordinary);
        }
        return same;
    }

    /** What a handler sends through a connection that was taken before it would be committed whatever becomes of the handler. */
    private void refuseInsideHandler(Connection ordinary) throws SQLException {
        Guard guard = running.get();
        if (guard != null && !isOf(guard, ordinary)) {
            throw Guard.refused(
                    "to use a connection of store.dataSource() that was taken before",
                    "It is not part of the handler's transaction. Take one inside the handler, or use tx.connection(); and"
                            + " let no session or synchronization of a framework, which keeps its connection, reach around"
                            + " the call of the inbox");
        }
    }

    /** Hands out this transaction on the calling thread until the answer is run there; running it again does nothing. */
    Runnable bind(Guard guard) {
        Guard covered = running.get();
        running.set(guard);
        return () -> {
            if (running.get() != guard) {
                return;
            }
            running.set(covered); // not removed, even if there is none: the next message would only put it back
        };
    }

    @Override
    public Connection getConnection() throws SQLException {
        Guard guard = running.get();
        return guard == null
                ? transactions.track(real.getConnection(), this::refuseInsideHandler)
                : guard.dataSource().getConnection();
    }

    @Override
    public Connection getConnection(@Nullable String user, @Nullable String password) throws SQLException {
        if (running.get() != null) {
            throw new SQLFeatureNotSupportedException("The handler's transaction belongs to one user");
        }
        return transactions.track(real.getConnection(user, password), this::refuseInsideHandler);
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return real.getLogWriter();
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) throws SQLException {
        real.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        real.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return real.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        return real.getParentLogger();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return type.isInstance(this) ? type.cast(this) : real.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return type.isInstance(this) || real.isWrapperFor(type);
    }
}
