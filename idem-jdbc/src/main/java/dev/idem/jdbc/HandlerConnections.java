package dev.idem.jdbc;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The data source that knows the running handler: on its thread it hands out the handler's transaction, elsewhere an
 * ordinary connection, which is only {@linkplain TrackedConnection watched}. Bound by the claim, unbound when the handler's connection is revoked. A unit that joins another
 * one covers it until then.
 */
final class HandlerConnections implements DataSource {
    private final DataSource real;

    @SuppressWarnings("ThreadLocalUsage") // not static: two stores in one process must not mix
    private final ThreadLocal<@Nullable Guard> running = new ThreadLocal<>();

    private final ThreadTransactions transactions = new ThreadTransactions();

    HandlerConnections(DataSource real) {
        this.real = real;
    }

    /** Whether the calling thread has a transaction open on a connection of this data source, outside of any handler. */
    boolean isTransactionOpenHere() {
        return transactions.isOpenHere();
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
                ? transactions.track(real.getConnection())
                : guard.dataSource().getConnection();
    }

    @Override
    public Connection getConnection(@Nullable String user, @Nullable String password) throws SQLException {
        if (running.get() != null) {
            throw new SQLFeatureNotSupportedException("The handler's transaction belongs to one user");
        }
        return transactions.track(real.getConnection(user, password));
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
