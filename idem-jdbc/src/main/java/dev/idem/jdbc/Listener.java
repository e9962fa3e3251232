package dev.idem.jdbc;

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
import org.slf4j.LoggerFactory;

/**
 * Hears of what other instances store, on a thread and a connection of its own, and rings. A connection that is lost is
 * replaced; meanwhile workers poll. Every connection is tried before it is trusted, with a notification sent on another one: a
 * pooler like PgBouncer in transaction mode accepts {@code LISTEN} and delivers nothing. Then this gives up.
 */
final class Listener {
    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);
    private static final Duration AT_ONCE = Duration.ofMillis(1);
    private static final Duration STEP = Duration.ofMillis(500);
    private static final Duration TRIAL = Duration.ofSeconds(10);
    private static final Duration SILENCE = Duration.ofSeconds(30);
    private static final int PATIENCE_SECONDS = 5;
    private static final long CLOSE_MILLIS = 2_000;
    /** No consumer has this number: for trials, and to end a wait. */
    private static final int NOBODY = 0;

    private final DataSource dataSource;
    private final Channel channel;
    private final Notifier notifier;
    private final Map<String, Runnable> bells = new ConcurrentHashMap<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private boolean everHeard;
    private final Backoff backoff = new Backoff();
    private @Nullable Thread thread;

    Listener(DataSource dataSource, Channel channel, Notifier notifier) {
        this.dataSource = dataSource;
        this.channel = channel;
        this.notifier = notifier;
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
                } catch (SQLException | RuntimeException failure) {
                    log.debug("{}: not listening, so workers poll; tried again soon", channel, failure);
                }
                rest = backoff.next();
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** Until it is closed or the connection fails; false if there is no use in another try. */
    private boolean listen() throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            Optional<PgNotifications> notifications = PgNotifications.of(connection);
            if (notifications.isEmpty()) {
                log.info(
                        "{}: workers poll for what other instances store, for the connections of {} are not those of the"
                                + " PostgreSQL driver and cannot be unwrapped",
                        channel,
                        dataSource.getClass().getName());
                return false;
            }
            boolean autoCommit = connection.getAutoCommit();
            connection.setAutoCommit(true);
            try {
                return isHeard(connection, notifications.get()) && receive(connection, notifications.get());
            } finally {
                leave(connection, notifications.get(), autoCommit);
            }
        }
    }

    /**
     * Tried on a channel that nobody else has: behind a pooler the session that listens may be another's at once, and would go
     * on listening for it.
     */
    private boolean isHeard(Connection connection, PgNotifications notifications) throws SQLException {
        Channel trial = Channel.random();
        say("LISTEN " + trial, connection);
        notifier.sendNow(trial, List.of(NOBODY));
        long until = System.nanoTime() + TRIAL.toNanos();
        while (closed.getCount() > 0 && System.nanoTime() < until) {
            if (!notifications.await(STEP).isEmpty()) {
                everHeard = true;
                return true;
            }
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

    private boolean receive(Connection connection, PgNotifications notifications) throws SQLException {
        say("LISTEN " + channel, connection);
        backoff.reset(Duration.ZERO);
        log.debug("{}: listening", channel);
        bells.values().forEach(Runnable::run); // for what came while nobody listened
        long heard = System.nanoTime();
        while (closed.getCount() > 0) {
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
            notifier.send(NOBODY);
            Threads.join(running, CLOSE_MILLIS);
        }
    }
}
