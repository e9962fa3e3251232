package dev.idem.jdbc.internal.queue;

import dev.idem.StoreException;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.StoreLog;
import dev.idem.jdbc.internal.sql.Threads;
import dev.idem.spi.TransientStoreException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The one connection that is held beside those of transactions, for what workers say meanwhile.
 *
 * <p>Nobody waits here for a connection while holding another: in a pool that is too small all would wait for each other. So
 * it is opened by {@link #ready}, before a transaction begins, and what is said with a transaction open fails if the connection
 * is broken. Thread-safe.
 */
final class NoteConnection {
    static final int PATIENCE_SECONDS = 5;

    /** A connection that nobody has used for so long may have been cut off. */
    private static final Duration DOUBTFUL = Duration.ofSeconds(30);

    private static final long LAST_WORDS_MILLIS = 2_000;
    private static final Logger log = StoreLog.LOG;

    private final DataSource dataSource;
    private final Object opening = new Object();
    private volatile @Nullable Connection connection;
    private volatile boolean ended;
    private long usedAt;

    NoteConnection(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** Once more on a new connection if the old one does not work any more. */
    int say(String what, String consumer, Saying saying) {
        try {
            try {
                ready();
                return execute(saying);
            } catch (SQLException broken) {
                ready();
                return execute(saying);
            }
        } catch (SQLException failure) {
            throw new StoreException(
                    "Could not " + what + " " + consumer + " (SQLState " + failure.getSQLState() + "): "
                            + SqlFaults.advice(failure),
                    failure);
        }
    }

    /** Whoever says this has messages in a transaction that is open. */
    void sayHolding(String consumer, Saying saying) {
        try {
            try {
                execute(saying);
            } catch (SQLException undone) {
                if (!SqlFaults.isUndoneState(undone)) {
                    throw undone;
                }
                execute(saying);
            }
        } catch (SQLException failure) {
            throw new TransientStoreException(
                    "Could not note what is running of " + consumer + " (SQLState " + failure.getSQLState()
                            + "), so nothing of it is run: tried again, on another connection",
                    failure);
        }
    }

    /** Called before work begins, by somebody who holds no connection. */
    void ready() throws SQLException {
        if (isOpen()) {
            return;
        }
        synchronized (opening) { // who waits for the pool keeps nobody from what is open meanwhile
            if (ended) {
                throw new SQLException("The store is closed", "08003");
            }
            if (!isOpen()) {
                Connection opened = dataSource.getConnection();
                synchronized (this) {
                    connection = opened;
                    usedAt = System.nanoTime();
                }
            }
        }
    }

    synchronized boolean isAlive(int seconds) {
        Connection open = connection;
        try {
            return open != null && open.isValid(seconds);
        } catch (SQLException broken) {
            return false;
        }
    }

    private synchronized boolean isOpen() throws SQLException {
        Connection open = connection;
        if (open != null && System.nanoTime() - usedAt > DOUBTFUL.toNanos()) {
            if (open.isValid(PATIENCE_SECONDS)) {
                usedAt = System.nanoTime();
            } else {
                close();
            }
        }
        return connection != null;
    }

    /** A failure ends the connection, but for a deadlock, after which the server has rolled back. */
    synchronized int execute(Saying saying) throws SQLException {
        Connection open = connection;
        if (open == null) {
            throw new SQLException("The connection for notes was lost", "08003");
        }
        boolean done = false;
        try {
            int rows = saying.on(open);
            if (!open.getAutoCommit()) {
                open.commit();
            }
            usedAt = System.nanoTime();
            done = true;
            return rows;
        } catch (SQLException failure) {
            done = SqlFaults.isUndoneState(failure);
            throw failure;
        } finally {
            if (!done) {
                close(); // nobody knows what is left on it
            }
        }
    }

    static int executed(PreparedStatement prepared) throws SQLException {
        try (PreparedStatement statement = prepared) {
            statement.setQueryTimeout(PATIENCE_SECONDS); // all of this process wait for it
            return statement.execute() ? 0 : statement.getUpdateCount();
        }
    }

    /** Sends a notification to a channel. */
    void notifyOf(Channel channel) throws SQLException {
        execute(c -> executed(Notifier.prepare(c, channel, List.of(Notifier.NOBODY))));
    }

    /**
     * For good. Whoever is using it just now may be waiting for a database that does not answer, and for as long as that:
     * after a while the connection is ended under their feet.
     */
    void end() {
        ended = true;
        if (!isDone(this::close)) {
            isDone(this::abort);
        }
    }

    /** Whether it was done soon. Drivers may wait for the database even when a connection is aborted. */
    private static boolean isDone(Runnable end) {
        Thread thread = new Thread(end, "idem-notes");
        thread.setDaemon(true);
        thread.start();
        Threads.join(thread, LAST_WORDS_MILLIS);
        return !thread.isAlive();
    }

    private void abort() {
        Connection held = connection;
        try {
            if (held != null) {
                held.abort(Runnable::run);
            }
        } catch (SQLException | RuntimeException | AbstractMethodError failure) {
            log.debug("The connection for notes could not be aborted", failure);
        }
    }

    synchronized void close() {
        Connection open = connection;
        connection = null;
        if (open != null) {
            try {
                open.close();
            } catch (SQLException gone) {
                // it was broken anyway
            }
        }
    }

    @FunctionalInterface
    interface Saying {
        int on(Connection connection) throws SQLException;
    }
}
