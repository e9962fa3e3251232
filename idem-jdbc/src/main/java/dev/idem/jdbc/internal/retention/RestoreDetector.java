package dev.idem.jdbc.internal.retention;

import dev.idem.StoreException;
import dev.idem.StoreReplacedException;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.StoreLog;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Threads;
import dev.idem.jdbc.internal.sql.Transactions;
import dev.idem.spi.StoreWitness;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Notices that the tables are behind what brokers remember: restored, or created anew.
 *
 * <p><b>How.</b> Each process has a row of its own with a number that grows every few seconds while checkpoints are asked
 * for, and a checkpoint tells the number that was last committed. A backup has the numbers of its time. So tables that were
 * restored do not know a process that began later, or have a smaller number for it, and stay so for ever: nobody but that
 * process moves its row. It finds out by itself, should it still run, because its row is not where it left it. Clocks
 * decide nothing.
 *
 * <p><b>What it costs.</b> One small update every {@link #EVERY}, from a thread of its own, while offsets are committed.
 *
 * <p><b>What it cannot see.</b> A loss of less than that time; and whatever a row that was removed after
 * {@link CheckpointRows#KEEP} would have told.
 */
public final class RestoreDetector implements StoreWitness, AutoCloseable {
    public static final Duration EVERY = Duration.ofSeconds(5);

    private static final Logger log = StoreLog.LOG;
    private static final long CLOSE_MILLIS = 2_000;

    /** A row that does not move for long is removed, see {@link CheckpointRows#KEEP}. */
    private static final Duration SIGN_OF_LIFE = Duration.ofDays(1);

    private final DataSource dataSource;
    private final Tables tables;
    private final CheckpointRows rows;
    private final CheckpointCheck check;
    private final Duration every;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile @Nullable StoreCheckpoint current;
    private volatile boolean asked;
    private volatile long ticked = System.nanoTime();
    private volatile @Nullable StoreReplacedException replaced;
    private @Nullable Thread thread;

    public RestoreDetector(DataSource dataSource, Tables tables, Duration every) {
        this.dataSource = dataSource;
        this.tables = tables;
        this.every = every;
        rows = new CheckpointRows(tables);
        check = new CheckpointCheck(tables, rows);
    }

    @Override
    public Optional<String> testimony() {
        StoreReplacedException problem = replaced;
        if (problem != null) {
            throw problem;
        }
        asked = true;
        return Optional.ofNullable(current).map(StoreCheckpoint::toString);
    }

    @Override
    public void confirm(Collection<String> testimonies) {
        Set<StoreCheckpoint> said = new LinkedHashSet<>();
        testimonies.forEach(text -> StoreCheckpoint.of(text).ifPresent(said::add));
        try (Connection connection = dataSource.getConnection()) {
            Transactions.alone(connection, () -> {
                check.refuse(connection, rows.self(connection), said);
                return true;
            });
            begin(connection);
        } catch (SQLException failure) {
            throw new StoreException(
                    "Could not compare offsets with " + tables + " (SQLState " + failure.getSQLState() + "): "
                            + SqlFaults.advice(failure),
                    failure);
        }
    }

    /**
     * If there is nothing to go on with: at the beginning, and when a person has mended what was wrong. With a new identity
     * each time, for the commit of an earlier try may have been done without an answer. The caller brings the connection, so
     * that nobody waits here for one.
     */
    private synchronized void begin(Connection connection) throws SQLException {
        if (current != null && replaced == null) {
            return;
        }
        current = Transactions.alone(connection, () -> {
            CheckpointRows.Self self = rows.self(connection);
            UUID process = UUID.randomUUID();
            rows.insert(connection, process, self.now());
            return new StoreCheckpoint(self.inbox(), process, 0, self.now());
        });
        replaced = null;
        start();
    }

    private void start() {
        if (thread == null && closed.getCount() > 0) {
            thread = new Thread(this::loop, "idem-witness");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void loop() {
        try {
            while (!closed.await(every.toNanos(), TimeUnit.NANOSECONDS)) {
                boolean idle = System.nanoTime() - ticked > SIGN_OF_LIFE.toNanos();
                if (replaced == null && (asked || idle)) {
                    asked = false;
                    tickQuietly();
                }
            }
        } catch (InterruptedException stop) {
            log.debug("{}: gives no more testimonies", tables);
        }
    }

    private void tickQuietly() {
        try {
            tick();
        } catch (Throwable failure) { // nothing may end the thread that notices a restored backup
            asked = true;
            Threads.survived(log, tables, "the testimony could not be renewed; tried again", failure);
        }
    }

    /** Moves the row of this process by one. */
    void tick() throws SQLException {
        StoreCheckpoint known = current;
        if (known == null) {
            return;
        }
        try (Connection connection = dataSource.getConnection()) {
            CheckpointRows.Self self = Transactions.alone(connection, () -> rows.self(connection));
            boolean there = self.inbox().equals(known.inbox())
                    && Transactions.alone(connection, () -> rows.move(connection, known, self.now()));
            StoreReplacedException problem =
                    there ? null : Transactions.alone(connection, () -> check.problem(connection, self, known));
            moved(known, new StoreCheckpoint(known.inbox(), known.process(), known.tick() + 1, self.now()), problem);
        }
    }

    /** Not if it was begun anew meanwhile. */
    private synchronized void moved(
            StoreCheckpoint from, StoreCheckpoint to, @Nullable StoreReplacedException problem) {
        ticked = System.nanoTime();
        if (from.equals(current)) {
            current = problem == null ? to : from;
            replaced = problem;
        }
    }

    @Override
    public void close() {
        @Nullable Thread running;
        synchronized (this) {
            closed.countDown();
            running = thread;
        }
        Threads.join(running, CLOSE_MILLIS);
    }
}
