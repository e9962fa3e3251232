package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.StoreLog;
import dev.idem.jdbc.internal.sql.Threads;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Tells other instances that something was stored: at once, and then at most once for each consumer and interval. Not in the
 * transactions that store, because a commit with a notification holds a lock that all such commits of the server share; a
 * thread of its own sends, on a connection borrowed for it. What cannot be sent is sent later; until then, others poll.
 */
final class Notifier {
    private static final Logger log = StoreLog.LOG;
    /** No consumer has this number: for trials, and to end a wait. */
    static final int NOBODY = 0;

    private static final Duration INTERVAL = Duration.ofMillis(25);
    private static final int PATIENCE_SECONDS = 5;
    private static final long CLOSE_MILLIS = 2_000;

    /** Nobody waits for the disk while the lock is held: notifications do not survive a crash of the server anyway. */
    private static final String SEND = "SELECT pg_notify(?, CAST(c AS text)) FROM unnest(CAST(? AS integer[])) AS c"
            + " WHERE set_config('synchronous_commit', 'off', true) IS NOT NULL";

    private final DataSource dataSource;
    private final Channel channel;
    private final Set<Integer> pending = ConcurrentHashMap.newKeySet();
    private final Semaphore work = new Semaphore(0);
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile @Nullable Thread thread;

    Notifier(DataSource dataSource, Channel channel) {
        this.dataSource = dataSource;
        this.channel = channel;
    }

    /** Leaves it to the thread. */
    void send(int consumer) {
        if (pending.add(consumer)) {
            work.release();
            if (thread == null) {
                start();
            }
        }
    }

    private synchronized void start() {
        if (thread == null && closed.getCount() > 0) {
            Thread sender = new Thread(this::loop, "idem-notify");
            sender.setDaemon(true);
            thread = sender;
            sender.start();
        }
    }

    private void loop() {
        Backoff backoff = new Backoff();
        try {
            Duration rest = Duration.ZERO;
            while (!closed.await(rest.toNanos(), TimeUnit.NANOSECONDS)) {
                work.acquire();
                work.drainPermits();
                rest = sent() ? backoff.reset(INTERVAL) : backoff.next();
            }
            sent();
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whatever is stored while this runs is for the next time. */
    private boolean sent() {
        List<Integer> consumers = List.copyOf(pending);
        consumers.forEach(pending::remove);
        try {
            sendNow(consumers);
            return true;
        } catch (Throwable failure) { // nothing may end the thread that others are told by
            pending.addAll(consumers);
            work.release();
            Threads.survived(
                    log, channel, "others could not be told of what was stored, and will poll; tried again", failure);
            return false;
        }
    }

    /** In a transaction of its own. */
    private void sendNow(List<Integer> consumers) throws SQLException {
        if (consumers.isEmpty()) {
            return;
        }
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = prepare(connection, channel, consumers)) {
            statement.setQueryTimeout(PATIENCE_SECONDS);
            statement.execute();
            if (!connection.getAutoCommit()) {
                connection.commit();
            }
        }
    }

    static PreparedStatement prepare(Connection connection, Channel channel, List<Integer> consumers)
            throws SQLException {
        PreparedStatement statement = connection.prepareStatement(SEND);
        statement.setString(1, channel.name());
        statement.setArray(2, connection.createArrayOf("integer", consumers.toArray()));
        return statement;
    }

    /** What is pending is sent, if that is quick. */
    void close() {
        Thread sender;
        synchronized (this) {
            closed.countDown();
            sender = thread;
        }
        work.release();
        Threads.join(sender, CLOSE_MILLIS);
    }
}
