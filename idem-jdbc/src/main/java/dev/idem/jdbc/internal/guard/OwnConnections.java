package dev.idem.jdbc.internal.guard;

import dev.idem.StoreException;
import dev.idem.jdbc.internal.sql.Transactions;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.Semaphore;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Where the store gets connections for itself. It commits and rolls them back, so none may be in a transaction that somebody
 * else has open on the calling thread. Sources that hand out such connections are refused: those of a known type at once,
 * any other when it does. That is told by two signs together: autocommit is off, though it was on before, and a second
 * connection is the same session. One sign alone says nothing: pools may hand out all connections without autocommit, and
 * careless ones hand out what somebody left so, which is undone. Thread-safe.
 */
public final class OwnConnections {
    private static final String TRANSACTION_AWARE =
            "org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy";

    private static final String ADVICE =
            " the store would commit or roll back what is not its own. Give the store the pool"
                    + " itself, and join a transaction of yours with inbox.within(connection)";

    private final DataSource real;
    private final SessionId session;
    private final PoolWaits waits = new PoolWaits();
    private final Semaphore comparing = new Semaphore(1);
    private volatile boolean autoCommitSeen;

    public OwnConnections(DataSource real, Database database) {
        this.real = real;
        this.session = SessionId.of(database);
    }

    /** @throws IllegalArgumentException if the source is known to hand out the connections of open transactions */
    public static void check(DataSource source) {
        if (isWrapper(source, HandlerConnections.class) || isTransactionAware(source)) {
            throw new IllegalArgumentException(
                    "A connection of " + source.getClass().getName()
                            + " belongs to whatever transaction is open on the calling thread:" + ADVICE);
        }
    }

    private static boolean isTransactionAware(DataSource source) {
        try {
            return isWrapper(
                    source,
                    Class.forName(TRANSACTION_AWARE, false, source.getClass().getClassLoader()));
        } catch (ClassNotFoundException | LinkageError notThere) {
            return false;
        }
    }

    private static boolean isWrapper(DataSource source, Class<?> type) {
        try {
            return type.isInstance(source) || source.isWrapperFor(type);
        } catch (SQLException | RuntimeException | AbstractMethodError unknown) {
            return false;
        }
    }

    public DataSource dataSource() {
        return new UnitDataSource(() -> waits.take(this::take));
    }

    public PoolWaits waits() {
        return waits;
    }

    private Connection take() throws SQLException {
        Connection connection = real.getConnection();
        if (hasAutoCommit(connection)) {
            if (!autoCommitSeen) {
                autoCommitSeen = true;
            }
        } else if (autoCommitSeen) {
            return compared(connection);
        } else {
            undo(connection);
        }
        return connection;
    }

    /** The pool's own test query may have begun a transaction, in which nothing can be said of the next one's isolation. */
    private static void undo(Connection connection) {
        try {
            connection.rollback(); // costs nothing where no transaction is open
        } catch (SQLException | RuntimeException unusable) {
            // whoever uses it will find out
        }
    }

    /**
     * One at a time, for it needs a second connection, and two that have one each and want another would wait for each other.
     * Who has to wait for its turn waits without a connection.
     */
    private Connection compared(Connection first) throws SQLException {
        Connection connection = first;
        if (!comparing.tryAcquire()) {
            connection.close();
            comparing.acquireUninterruptibly();
            try {
                connection = real.getConnection();
            } catch (SQLException | RuntimeException | Error failure) {
                comparing.release();
                throw failure;
            }
        }
        try {
            if (!hasAutoCommit(connection)) {
                putRight(connection);
            }
            return connection;
        } finally {
            comparing.release();
        }
    }

    /** Whoever uses one that cannot say so will find out, and knows what to do. */
    private static boolean hasAutoCommit(Connection connection) {
        try {
            return connection.getAutoCommit();
        } catch (SQLException | RuntimeException unusable) {
            return true;
        }
    }

    /** As the source hands out all others. */
    private void putRight(Connection connection) throws SQLException {
        try {
            if (isBound(connection)) {
                throw new StoreException(
                        "A transaction of somebody else's is open on this thread, and the data source hands out its"
                                + " connection:" + ADVICE,
                        null);
            }
            connection.rollback();
            connection.setAutoCommit(true);
        } catch (SQLException | RuntimeException | Error failure) {
            Transactions.quietly(connection::close, failure);
            throw failure;
        }
    }

    private boolean isBound(Connection connection) throws SQLException {
        try (Connection second = secondOf()) {
            if (second == null) {
                return false;
            }
            long other = session.on(second);
            try {
                return session.on(connection) == other;
            } catch (SQLException aborted) {
                return false; // the other would have failed as well
            }
        }
    }

    /** Null if the pool has none left: what is bound to the thread is there at any time. */
    private @Nullable Connection secondOf() {
        try {
            return real.getConnection();
        } catch (SQLException exhausted) {
            return null;
        }
    }
}
