package dev.idem.jdbc.internal.sql;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** Times and lengths as the retention table has them: microseconds, for ever as NULL. */
public final class Micros {
    /** Stands for NULL here: longer, or later, than anything else. */
    public static final long FOR_EVER = Long.MAX_VALUE;

    /** Stands for NULL where it means: not yet. */
    public static final long NEVER = Long.MIN_VALUE;

    private Micros() {}

    public static long of(@Nullable Duration length) {
        return length == null ? FOR_EVER : length.toNanos() / 1000;
    }

    public static Duration duration(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }

    /** Rounded down. */
    public static long of(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }

    public static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    public static long read(ResultSet row, int column, long ifNull) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? ifNull : value;
    }

    /** Binds a number, and the two that stand for NULL as NULL. */
    public static NamedSql.Parameter parameter(long micros) {
        return (PreparedStatement s, int i) -> {
            if (micros == FOR_EVER || micros == NEVER) {
                s.setNull(i, Types.BIGINT);
            } else {
                s.setLong(i, micros);
            }
        };
    }
}
