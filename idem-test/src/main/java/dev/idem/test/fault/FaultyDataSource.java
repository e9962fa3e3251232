package dev.idem.test.fault;

import static java.util.Objects.requireNonNull;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.List;
import java.util.function.Supplier;
import java.util.logging.Logger;
import javax.sql.DataSource;

/**
 * A data source that counts the JDBC calls made through it and lets one of them, chosen in advance, go wrong.
 *
 * <p>Counted is what reaches the server or may do so with some driver: {@code getConnection}; of a connection {@code
 * prepareStatement}, {@code prepareCall}, {@code commit}, {@code rollback}, {@code setSavepoint}, {@code
 * releaseSavepoint}, {@code setAutoCommit}, {@code setTransactionIsolation}, {@code setReadOnly}, {@code setSchema},
 * {@code setCatalog} and the first {@code close}; of a statement every {@code execute…}. Not counted are reading a
 * result set, metadata, {@code isValid} (pools call it when the clock says so) and closing statements.
 *
 * <p>A lost connection is really torn underneath and stays lost: later calls on it, its statements and result sets fail
 * with SQLState {@code 08003}, except {@code close}, {@code isClosed}, {@code abort}, and {@code isValid}, which
 * answers false. A server may need a moment to notice and to free the locks. A fault at {@code close} never leaves the
 * connection open, since nobody could close it again.
 *
 * <p>It can wrap a pool or be wrapped by one. A pool on top opens and resets connections of its own accord, and those
 * calls count: let it fill before arming. {@code unwrap} to a driver's own type leads past the faults.
 *
 * <p>Thread-safe, as far as the wrapped data source is.
 */
public final class FaultyDataSource implements DataSource {
    private final DataSource real;
    private final FaultSchedule schedule = new FaultSchedule();

    private FaultyDataSource(DataSource real) {
        this.real = requireNonNull(real, "dataSource");
    }

    /** Wraps a data source; nothing is armed yet. */
    public static FaultyDataSource around(DataSource dataSource) {
        return new FaultyDataSource(dataSource);
    }

    /** Lets the n-th counted call from now on (the first is 1) suffer the fault, once. Starts count and trace anew. */
    public void arm(int nthCall, Fault fault) {
        checkPosition(nthCall);
        schedule.arm(nthCall, requireNonNull(fault, "fault"), null);
    }

    /**
     * Like {@link #arm(int, Fault)}, but throws the given exception, for example one with the SQLState of a deadlock.
     *
     * @throws IllegalArgumentException if the fault is one that throws no {@link SQLException}
     */
    public void arm(int nthCall, Fault fault, Supplier<? extends SQLException> failure) {
        checkPosition(nthCall);
        if (fault == Fault.SILENT_ROLLBACK || fault == Fault.ERROR) {
            throw new IllegalArgumentException(fault + " throws no SQLException");
        }
        schedule.arm(nthCall, requireNonNull(fault, "fault"), requireNonNull(failure, "failure"));
    }

    /**
     * Takes the fault back if it has not fired. Count, trace and {@link #fired()} stay as they are and calls go on
     * counting.
     */
    public void disarm() {
        schedule.disarm();
    }

    /** Takes the fault back and starts count and trace anew. */
    public void reset() {
        schedule.reset();
    }

    /** The number of counted calls since the last {@code arm} or {@code reset}. */
    public int calls() {
        return schedule.calls();
    }

    /** Whether the fault armed last has fired. */
    public boolean fired() {
        return schedule.fired();
    }

    /**
     * The counted calls since the last {@code arm} or {@code reset}, in order (the first 10,000): the method and, where
     * there is one, the SQL text on one line. Never bind values.
     */
    public List<String> trace() {
        return schedule.trace();
    }

    @Override
    public Connection getConnection() throws SQLException {
        return new FaultySession(schedule).open(real::getConnection);
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        return new FaultySession(schedule).open(() -> real.getConnection(username, password));
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return real.getLogWriter();
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
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

    private static void checkPosition(int nthCall) {
        if (nthCall < 1) {
            throw new IllegalArgumentException("Calls are counted from 1, not from " + nthCall);
        }
    }
}
