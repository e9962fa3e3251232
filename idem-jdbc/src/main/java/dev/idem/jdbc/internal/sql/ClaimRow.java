package dev.idem.jdbc.internal.sql;

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
 * @param markedAt the database's time at the claim; without it every message with a time would cost a look at the
 *     horizon
 * @param token what the confirm compares besides the claim id, if the dialect needs it
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
public record ClaimRow(
        boolean granted,
        String claimId,
        @Nullable String token,
        @Nullable String readable,
        byte @Nullable [] fingerprint,
        Instant markedAt,
        boolean sameKey) {

    /** How many columns it reads. */
    public static final int COLUMNS = 7;

    /** How many a claim may answer instead that only ever answers what it inserted; the last one is not read. */
    private static final int GRANTED_COLUMNS = 4;

    public static ClaimRow of(ResultSet row) throws SQLException {
        if (row.getMetaData().getColumnCount() == GRANTED_COLUMNS) {
            return new ClaimRow(true, row.getString(1), row.getString(2), null, null, time(row.getLong(3)), true);
        }
        return new ClaimRow(
                row.getBoolean(1),
                row.getString(2),
                row.getString(3),
                row.getString(4),
                KeptFingerprint.read(row, 5),
                time(row.getLong(6)),
                row.getBoolean(7));
    }

    /** What all rows of one insert have in common. */
    public static ClaimRow granted(String claimId, @Nullable String token, long micros) {
        return new ClaimRow(true, claimId, token, null, null, time(micros), true);
    }

    /** A marker that was there: claim id, readable text, fingerprint and time. */
    public static ClaimRow known(ResultSet row) throws SQLException {
        return new ClaimRow(
                false,
                row.getString(1),
                null,
                row.getString(2),
                KeptFingerprint.read(row, 3),
                time(row.getLong(4)),
                true);
    }

    /** From a number, because no time zone of the driver, the session or this process can bend it. */
    private static Instant time(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    public Marker marker(@Nullable StoredResult result) {
        return new Marker(readable, fingerprint, markedAt, claimId, result);
    }
}
