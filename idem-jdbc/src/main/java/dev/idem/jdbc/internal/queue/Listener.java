package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.guard.PoolWaits;
import dev.idem.jdbc.internal.sql.StoreLog;
import dev.idem.jdbc.internal.sql.Threads;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Hears of what other instances store, on a thread and a connection of its own, and rings. A connection that is lost is
 * replaced; meanwhile workers poll. Every connection is tried before it is trusted, with a notification sent on another one: a
 * pooler like PgBouncer in transaction mode accepts {@code LISTEN} and delivers nothing. Then this gives up. Its connection saves
 * time and nothing else, so it goes back as soon as others wait in vain for one.
 */
final class Listener {
    private static final Logger log = StoreLog.LOG;
    private static final Duration AT_ONCE = Duration.ofMillis(1);
    private static final Duration STEP = Duration.ofMillis(500);
    private static final Duration TRIAL = Duration.ofSeconds(10);
    private static final Duration SILENCE = Duration.ofSeconds(30);
    private static final int PATIENCE_SECONDS = 5;
    private static final long CLOSE_MILLIS = 2_000;
    private static final Duration SHORTEST_WAY = Duration.ofMinutes(1);
    private static final int MOST_DOUBLINGS = 6;

    private final DataSource dataSource;
    private final Channel channel;
    private final Notifier notifier;
    private final NoteConnection notes;
    private final PoolWaits waits;
    private final Map<String, Runnable> bells = new ConcurrentHashMap<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private boolean everHeard;
    private boolean givesWay;
    private int ways;
    private final Backoff backoff = new Backoff();
    private @Nullable Thread thread;

    /** @param notes another connection, which is open anyway */
    Listener(DataSource dataSource, Channel channel, Notifier notifier, NoteConnection notes, PoolWaits waits) {
        this.dataSource = dataSource;
        this.channel = channel;
        this.notifier = notifier;
        this.notes = notes;
        this.waits = waits;
    }

    synchronized void onWake(int consumer, Runnable bell) {
        bells.put(Integer.toString(consumer), bell);
        if (thread == null && closed.getCount() > 0) {
            thread = new Thread(this::loop, "idem-listen");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void loop() {
        Duration rest = Duration.ZERO;
        try {
            while (!closed.await(rest.toNanos(), TimeUnit.NANOSECONDS)) {
                try {
                    if (!listen()) {
                        return;
                    }
                } catch (Throwable failure) { // nothing may end it but the store's close
                    Threads.survived(log, channel, "not listening, so workers poll; tried again soon", failure);
                }
                rest = givesWay ? giveWay() : backoff.next();
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** Answers for how long. */
    private Duration giveWay() {
        Duration pause = SHORTEST_WAY.multipliedBy(1L << Math.min(ways, MOST_DOUBLINGS));
        String text =
                "{}: the pool has no connection left and others wait for one, so nobody listens for {}, and workers poll."
                        + " The pool needs a connection for each worker and two more, and those in which messages are received";
        if (ways++ == 0) {
            log.warn(text, channel, pause);
        } else {
            log.debug(text, channel, pause);
        }
        return pause;
    }

    /** Until it is closed, the connection fails or others need it; false if there is no use in another try. */
    private boolean listen() throws SQLException {
        givesWay = false;
        notes.ready(); // needed for the trial, and nobody may wait for it with another connection in hand
        try (Connection connection = dataSource.getConnection()) {
            Optional<PgNotifications> notifications = PgNotifications.of(connection);
            if (notifications.isEmpty()) {
                log.info(
                        "{}: workers poll for what other instances store, for connections are {}, not those of the"
                                + " PostgreSQL driver and cannot be unwrapped",
                        channel,
                        connection.getClass().getName());
                return false;
            }
            boolean autoCommit = connection.getAutoCommit();
            connection.setAutoCommit(true);
            try {
                PoolWaits.Watch watch = waits.watch();
                return (isHeard(connection, notifications.get(), watch)
                                && receive(connection, notifications.get(), watch))
                        || givesWay;
            } finally {
                leave(connection, notifications.get(), autoCommit);
            }
        }
    }

    /**
     * Tried on a channel that nobody else has: behind a pooler the session that listens may be another's at once, and would go
     * on listening for it.
     */
    private boolean isHeard(Connection connection, PgNotifications notifications, PoolWaits.Watch watch)
            throws SQLException {
        Channel trial = Channel.random();
        say("LISTEN " + trial, connection);
        notes.notifyOf(trial);
        long until = System.nanoTime() + TRIAL.toNanos();
        while (goesOn(watch) && System.nanoTime() < until) {
            if (!notifications.await(STEP).isEmpty()) {
                everHeard = true;
                return true;
            }
        }
        if (givesWay) {
            return false;
        }
        if (closed.getCount() > 0 && everHeard) {
            throw new SQLException("No notification arrives, though earlier ones did", "08006");
        }
        if (closed.getCount() > 0) {
            log.info(
                    "{}: workers poll for what other instances store, for notifications do not arrive. Behind PgBouncer in"
                            + " transaction mode they cannot: say wakeUp(WakeUp.POLL), or connect workers directly",
                    channel);
        }
        return false;
    }

    private boolean goesOn(PoolWaits.Watch watch) {
        givesWay |= watch.isInVain();
        return !givesWay && closed.getCount() > 0;
    }

    private boolean receive(Connection connection, PgNotifications notifications, PoolWaits.Watch watch)
            throws SQLException {
        say("LISTEN " + channel, connection);
        backoff.reset(Duration.ZERO);
        log.debug("{}: listening", channel);
        bells.values().forEach(Runnable::run); // for what came while nobody listened
        long heard = System.nanoTime();
        while (goesOn(watch)) {
            List<String> payloads = notifications.await(STEP);
            payloads.forEach(consumer -> bells.getOrDefault(consumer, () -> {}).run());
            if (!payloads.isEmpty()) {
                heard = System.nanoTime();
            } else if (System.nanoTime() - heard > SILENCE.toNanos()) {
                if (!connection.isValid(PATIENCE_SECONDS)) {
                    throw new SQLException("The connection that listens does not answer", "08006");
                }
                heard = System.nanoTime();
            }
        }
        return true;
    }

    private static void say(String sql, Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(PATIENCE_SECONDS);
            statement.execute(sql);
        }
    }

    /** Who gets the connection next must not get our notifications; and a pool so notices that it is broken. */
    private void leave(Connection connection, PgNotifications notifications, boolean autoCommit) {
        try {
            say("UNLISTEN *", connection);
            notifications.await(AT_ONCE); // what came before that and was not read
            connection.setAutoCommit(autoCommit);
        } catch (SQLException broken) {
            log.debug("{}: the connection that listened is gone", channel, broken);
        }
    }

    void close() {
        Thread running;
        synchronized (this) {
            closed.countDown();
            running = thread;
        }
        if (running != null && running.isAlive()) {
            notifier.send(Notifier.NOBODY);
            Threads.join(running, CLOSE_MILLIS);
        }
    }
}
