package dev.idem.jdbc.internal.queue;

import dev.idem.StoreException;
import dev.idem.jdbc.internal.guard.PoolWaits;
import dev.idem.jdbc.internal.sql.StoreLog;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.slf4j.Logger;

/**
 * Finds out, when the first workers start, whether the pool can have two connections open at once: one of a worker, and the
 * one for notes. Some pools say how many they have. Of others a second connection is asked for while the first is held. If
 * none comes, the pool may be too small, or others may have all of it: the server knows, because what others have are
 * sessions of the same user, in the same database and from the same address. Only a pool that nobody else can have a
 * connection of is refused. A busy one gets a warning, and is asked on. Thread-safe.
 */
final class PoolSize implements AutoCloseable {
    private static final Logger log = StoreLog.LOG;
    private static final long SHORTEST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 5_000;
    private static final int VALID_SECONDS = 5;

    private final DataSource given;
    private final DataSource dataSource;
    private final PoolWaits waits;
    private final NoteConnection notes;
    private final String sessions;
    private final Duration timeout;
    private final AtomicBoolean tried = new AtomicBoolean();
    private final CountDownLatch closed = new CountDownLatch(1);

    /**
     * @param given the pool itself
     * @param dataSource where the store gets its connections, which are the pool's
     */
    PoolSize(
            DataSource given,
            DataSource dataSource,
            PoolWaits waits,
            NoteConnection notes,
            Database database,
            Duration timeout) {
        this.given = given;
        this.dataSource = dataSource;
        this.waits = waits;
        this.notes = notes;
        this.timeout = timeout;
        this.sessions = switch (database) {
            case POSTGRESQL ->
                "SELECT count(*) FROM pg_stat_activity s JOIN pg_stat_activity own ON own.pid = pg_backend_pid()"
                        + " WHERE s.pid <> own.pid AND s.usesysid = own.usesysid AND s.datid = own.datid"
                        + " AND s.client_addr IS NOT DISTINCT FROM own.client_addr";
            case MARIADB ->
                "SELECT count(*) FROM information_schema.processlist s JOIN information_schema.processlist own"
                        + " ON own.id = CONNECTION_ID() WHERE s.id <> own.id AND s.user = own.user AND s.db <=> own.db"
                        + " AND SUBSTRING_INDEX(s.host, ':', 1) = SUBSTRING_INDEX(own.host, ':', 1)";
            case H2 -> "SELECT count(*) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID <> SESSION_ID()";
        };
    }

    /** @throws StoreException if the pool has one connection and no second */
    void check(String consumer, int workers) {
        if (!tried.compareAndSet(false, true)) {
            return; // a second would have to wait for the workers that run already
        }
        OptionalInt most = PoolLimit.of(given);
        if (most.isPresent() ? most.getAsInt() < 2 : !hasTwo(workers)) {
            tried.set(false);
            throw new StoreException(
                    "The pool has one connection for the workers of " + consumer
                            + " and no second one, so they would stand still. " + advice(workers),
                    null);
        }
    }

    private static String advice(int workers) {
        return "Give it at least " + (workers + 2) + ": one for each of the " + workers
                + " workers, one for notes of what they run, one that listens, and those in which messages are received";
    }

    /** Also true if nobody can say so. */
    private boolean hasTwo(int workers) {
        try {
            notes.ready();
        } catch (SQLException absent) {
            tried.set(false);
            return true; // the workers wait until the database is there
        }
        Asking asking = new Asking(waits.served());
        Thread thread = new Thread(asking, "idem-pool-size"); // some pools let their users wait for ever
        thread.setDaemon(true);
        thread.start();
        if (asking.hasEnded(timeout) || !notes.isAlive(VALID_SECONDS)) {
            return true;
        }
        if (isAlone()) {
            asking.isWanted = false;
            notes.close();
            return false;
        }
        log.warn(
                "The pool has given no second connection for {}. If others have them all, workers wait until one is given"
                        + " back. If it has only one, they stand still. {}",
                timeout,
                advice(workers));
        asking.isLate = true;
        return true;
    }

    /** No other connection of the pool is open, as far as can be seen. */
    private boolean isAlone() {
        try {
            return notes.execute(this::others) == 0;
        } catch (SQLException unknown) {
            return false;
        }
    }

    private int others(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(VALID_SECONDS);
            try (ResultSet rows = statement.executeQuery(sessions)) {
                rows.next();
                return rows.getInt(1);
            }
        }
    }

    @Override
    public void close() {
        closed.countDown();
    }

    /** Asks for a connection, while the one for notes is held, until somebody of this store has got one. */
    private final class Asking implements Runnable {
        private final long servedBefore;
        private final CountDownLatch ended = new CountDownLatch(1);
        private volatile boolean isWanted = true;
        private volatile boolean isLate;

        private Asking(long servedBefore) {
            this.servedBefore = servedBefore;
        }

        private boolean hasEnded(Duration limit) {
            long until = System.nanoTime() + limit.toNanos();
            try {
                while (System.nanoTime() - until < 0) {
                    if (waits.served() > servedBefore || ended.await(SHORTEST_PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
                        return true;
                    }
                }
                return false;
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                return true; // nobody knows
            }
        }

        @Override
        public void run() {
            long pause = SHORTEST_PAUSE_MILLIS;
            try {
                while (isWanted
                        && waits.served() == servedBefore
                        && !gotOne()
                        && !closed.await(pause, TimeUnit.MILLISECONDS)) {
                    pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
                }
                if (isLate && isWanted && closed.getCount() > 0) {
                    log.info("The pool has given a second connection: it is large enough, and was busy");
                }
            } catch (InterruptedException impossible) { // nobody has this thread
                Thread.currentThread().interrupt();
            } finally {
                ended.countDown(); // an Error says nothing of the pool
            }
        }

        private boolean gotOne() {
            try (Connection another = dataSource.getConnection()) {
                return !another.isClosed();
            } catch (SQLException | RuntimeException none) {
                return false;
            }
        }
    }
}
