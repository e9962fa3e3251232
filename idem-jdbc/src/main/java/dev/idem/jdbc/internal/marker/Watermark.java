package dev.idem.jdbc.internal.marker;

import dev.idem.Position;
import dev.idem.spi.Marker;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * Up to where a partition is done, read and locked.
 *
 * @param partition any position of it
 * @param claimId which claim moved it last
 * @param token what the database calls the transaction that holds the lock, if it has a name for it
 */
record Watermark(
        Position partition,
        long position,
        String claimId,
        Instant movedAt,
        @Nullable String token) {
    static final int COLUMNS = 5;

    static Watermark of(Position partition, ResultSet row) throws SQLException {
        if (!partition.stream().equals(row.getString(4))) {
            throw new SQLException("The name of stream " + partition.stream() + " has the hash of another one");
        }
        return new Watermark(
                partition,
                row.getLong(1),
                row.getString(2),
                Instant.EPOCH.plus(row.getLong(3), ChronoUnit.MICROS),
                row.getString(5));
    }

    /** The evidence for a position that is done. */
    Marker marker(@Nullable String readable) {
        return new Marker(readable, null, movedAt, claimId, null);
    }
}
