package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.RetentionSql;
import dev.idem.jdbc.internal.sql.Tables;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Knows how far the markers of a consumer have been removed. Thread-safe.
 *
 * <p><b>Why the answer is right.</b> A sweep removes markers and raises the horizon to the newest of them in one
 * transaction. A claim that is granted because a marker was removed has found, or waited for, that transaction's commit.
 * The horizon is read by a later statement of the claim's transaction, so it is at least as high. That needs a statement
 * that sees what is committed now: at READ COMMITTED every one does; at other isolation levels, where a snapshot may be
 * older than that commit, the row is read with a lock, which sees the present or fails with a serialization error, and
 * then the unit runs again.
 *
 * <p><b>Why it usually costs nothing.</b> A message that is young enough needs no reading. When this process declared
 * its window it read, under the row's lock, how far any sweep had removed anything or was still allowed to: see
 * {@link Known#bound}. Every later sweep takes its limit under the same lock, and keeps at least our window, because a shorter one
 * replaces ours only when we have not declared it for a day. So the horizon is never later than the
 * bound, nor than the claim's own time less the window, both by the database's clock. Half a window is left for a clock
 * that was set back by a failover, and what we know is used for half a day only.
 */
public final class Horizons {
    private static final long FRESH = Micros.of(Duration.ofHours(12));

    private final NamedSql read;
    private final NamedSql readLocked;
    private final ConcurrentMap<Integer, Known> known = new ConcurrentHashMap<>();

    public Horizons(Tables tables) {
        String sql = tables.fill("SELECT horizon FROM ${retention} WHERE consumer = :consumer");
        read = new NamedSql(sql);
        readLocked =
                new NamedSql(sql + RetentionSql.of(tables.dialect().database()).lockedRead());
    }

    /**
     * What one declaration has learned.
     *
     * @param window the window this process has declared
     * @param bound nothing newer was removed, or was being removed, at that moment
     * @param at when, by the database's clock
     */
    public record Known(long window, long bound, long at) {
        boolean excludes(Instant made, Instant claimed) {
            boolean fresh =
                    !claimed.isAfter(Micros.instant(at + FRESH)) && !claimed.isBefore(Micros.instant(at - FRESH));
            boolean afterBound = bound == Micros.NEVER || made.isAfter(Micros.instant(bound));
            boolean inWindow = window == Micros.FOR_EVER || made.isAfter(claimed.minus(Micros.duration(window / 2)));
            return fresh && afterBound && inWindow;
        }
    }

    public void learned(int consumer, Known fact) {
        known.put(consumer, fact);
    }

    /** The window that this process has declared for a consumer, in microseconds. */
    public long window(int consumer) {
        Known fact = known.get(consumer);
        return fact == null ? Micros.FOR_EVER : fact.window;
    }

    /** A look at one consumer's horizon from one transaction, after its last claim. Used by one thread. */
    Look look(int consumer) {
        return new Look(consumer);
    }

    /** Reads the horizon when it first must, and no more: what comes later can remove nothing that was claimed before. */
    final class Look {
        private final int consumer;
        private @Nullable Long horizon;

        private Look(int consumer) {
            this.consumer = consumer;
        }

        /**
         * The horizon, if it is not before the time the message was made.
         *
         * @param claimed when the key was claimed, by the database's clock
         */
        Optional<Instant> at(Connection connection, Instant claimed, Instant made) throws SQLException {
            Known fact = known.get(consumer);
            if (fact != null && fact.excludes(made, claimed)) {
                return Optional.empty();
            }
            if (horizon == null) {
                horizon = read(connection, consumer);
            }
            return horizon == Micros.NEVER || made.isAfter(Micros.instant(horizon))
                    ? Optional.empty()
                    : Optional.of(Micros.instant(horizon));
        }
    }

    private long read(Connection connection, int consumer) throws SQLException {
        boolean snapshot = connection.getTransactionIsolation() != Connection.TRANSACTION_READ_COMMITTED;
        try (PreparedStatement statement = (snapshot ? readLocked : read)
                        .prepare(connection, Map.of("consumer", NamedSql.Parameter.of(consumer)));
                ResultSet rows = statement.executeQuery()) {
            return rows.next() ? Micros.read(rows, 1, Micros.NEVER) : Micros.NEVER;
        }
    }
}
