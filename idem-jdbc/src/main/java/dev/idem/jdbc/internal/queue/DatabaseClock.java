package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.Tables;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The database's time, mostly without a round trip: what it said last, and how long ago that was. Asks again after a minute, so
 * a clock that was set is noticed. Thread-safe.
 */
final class DatabaseClock {
    private static final Duration FRESH = Duration.ofMinutes(1);

    private final String sql;
    private volatile @Nullable Reading last;

    DatabaseClock(Tables tables) {
        sql = "SELECT " + QueueSql.of(tables.dialect().database()).now();
    }

    private record Reading(Instant time, long nanos) {}

    Instant now(Connection connection) throws SQLException {
        Reading reading = last;
        long nanos = System.nanoTime();
        if (reading == null || nanos - reading.nanos > FRESH.toNanos()) {
            reading = read(connection);
            last = reading;
        }
        return reading.time.plusNanos(Math.max(0, nanos - reading.nanos));
    }

    private Reading read(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return new Reading(Micros.instant(row.getLong(1)), System.nanoTime());
        }
    }
}
