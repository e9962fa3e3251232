package dev.idem.jdbc.internal.guard;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** Knows whether somebody waits for a connection of the pool in vain. Thread-safe. */
public final class PoolWaits {
    private final AtomicInteger waiting = new AtomicInteger();
    private final LongAdder served = new LongAdder();

    public Connection take(UnitDataSource.Source source) throws SQLException {
        waiting.incrementAndGet();
        try {
            Connection connection = source.open();
            served.increment();
            return connection;
        } finally {
            waiting.decrementAndGet();
        }
    }

    /** How many connections were handed out. */
    public long served() {
        return served.sum();
    }

    public Watch watch() {
        return new Watch();
    }

    /** Looks again and again. Used by one thread. */
    public final class Watch {
        private static final Duration LONG = Duration.ofMillis(400);

        private boolean someone;
        private long servedThen;
        private long then = System.nanoTime();

        private Watch() {}

        /** Whether there was somebody waiting for a while, and nobody got a connection. */
        public boolean isInVain() {
            if (System.nanoTime() - then < LONG.toNanos()) {
                return false;
            }
            boolean before = someone;
            long servedBefore = servedThen;
            someone = waiting.get() > 0;
            servedThen = served.sum();
            then = System.nanoTime();
            return before && someone && servedThen == servedBefore;
        }
    }
}
