package dev.idem.jdbc.internal.guard;

import dev.idem.jdbc.internal.sql.StoreLog;
import dev.idem.jdbc.internal.sql.Transactions;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * What a handler has sent and waits for. When its time is up it is cancelled before the connection is aborted: a server
 * need not notice that its client is gone until the statement ends, and until then it holds a session and all its locks,
 * beyond any limit of the pool.
 *
 * <p>A cancellation holds a lock while it is on its way, and whoever goes on with the connection waits for that lock: it
 * must never reach the statement of the next message. Thread-safe.
 */
public final class RunningStatement {
    private static final Logger log = StoreLog.LOG;

    /** A server that does not answer must not hold up the abort. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(2);

    private final ReentrantLock cancelling = new ReentrantLock();
    private volatile @Nullable Statement running;

    /** Executes something that can be cancelled meanwhile. */
    public void send(Statement statement, Transactions.Call execution) throws SQLException {
        begins(statement);
        try {
            execution.run();
        } finally {
            ends();
        }
    }

    /** Whatever is sent now can be cancelled; null where the driver knows no way. */
    void begins(@Nullable Statement statement) {
        running = statement;
    }

    void ends() {
        running = null;
    }

    /** Held by whoever cancels. */
    public ReentrantLock cancelling() {
        return cancelling;
    }

    /** Cancels what runs, if something does, and waits a bounded time for that. */
    public void cancel() {
        Statement statement = running;
        if (statement == null) {
            return;
        }
        Thread thread = new Thread(() -> cancel(statement), "idem-cancel");
        thread.setDaemon(true);
        thread.start();
        try {
            thread.join(LONGEST_WAIT.toMillis());
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    private void cancel(Statement statement) {
        cancelling.lock();
        try {
            if (running == statement) {
                statement.cancel();
            }
        } catch (SQLException | RuntimeException failure) {
            log.debug("A late statement could not be cancelled; its connection is aborted all the same", failure);
        } finally {
            cancelling.unlock();
        }
    }
}
