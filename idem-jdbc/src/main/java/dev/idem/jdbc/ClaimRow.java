package dev.idem.jdbc;

import dev.idem.spi.Marker;
import dev.idem.spi.StoredResult;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a claim or a read answers, in every dialect with these columns in this order.
 *
 * @param sameKey false when another unique index answered with the row of another key, which explains nothing
 * @param processedAt the database's time at the claim; without it every message with a time would cost a look at the
 *     horizon, see {@link Horizons}
 * @param token what the confirm compares besides the claim id, if the dialect needs it
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
record ClaimRow(
        boolean granted,
        String claimId,
        @Nullable String token,
        @Nullable String readable,
        byte @Nullable [] fingerprint,
        Instant processedAt,
        boolean sameKey) {

    /** How many columns it reads. */
    static final int COLUMNS = 7;

    static ClaimRow of(ResultSet row) throws SQLException {
        return new ClaimRow(
                row.getBoolean(1),
                row.getString(2),
                row.getString(3),
                row.getString(4),
                row.getBytes(5),
                // As a number, because no time zone of the driver, the session or this process can bend it.
                Instant.EPOCH.plus(row.getLong(6), ChronoUnit.MICROS),
                row.getBoolean(7));
    }

    Marker marker(@Nullable StoredResult result) {
        return new Marker(readable, fingerprint, processedAt, claimId, result);
    }
}
