package dev.idem.jdbc;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** Times and lengths as the retention table has them: microseconds, for ever as NULL. */
final class Micros {
    /** Stands for NULL here: longer, or later, than anything else. */
    static final long FOR_EVER = Long.MAX_VALUE;

    /** Stands for NULL where it means: not yet. */
    static final long NEVER = Long.MIN_VALUE;

    private Micros() {}

    static long of(@Nullable Duration length) {
        return length == null ? FOR_EVER : length.toNanos() / 1000;
    }

    static Duration duration(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }

    /** Rounded down. */
    static long of(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }

    static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    static long read(ResultSet row, int column, long ifNull) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? ifNull : value;
    }

    /** Binds a number, and the two that stand for NULL as NULL. */
    static NamedSql.Parameter parameter(long micros) {
        return (PreparedStatement s, int i) -> {
            if (micros == FOR_EVER || micros == NEVER) {
                s.setNull(i, Types.BIGINT);
            } else {
                s.setLong(i, micros);
            }
        };
    }
}
