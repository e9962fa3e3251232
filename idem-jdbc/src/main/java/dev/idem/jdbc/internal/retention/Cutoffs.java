package dev.idem.jdbc.internal.retention;

import dev.idem.jdbc.internal.marker.KnownConsumer;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.RetentionSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Transactions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Says how far a sweep may go, for each consumer, and writes it down before anything is removed. The window is counted
 * back from the last sign of life of the consumer's instances, so that the history of one that is down stands still; and
 * after a downtime of all a sweep goes on from where the last one was allowed to be, at twice the speed of time and by at
 * most two days at once. So a downtime does not eat the window: what came just before it is still recognised after it.
 */
public final class Cutoffs {
    private static final long DAY = Micros.of(Duration.ofDays(1));

    private final NamedSql read;
    private final NamedSql write;

    Cutoffs(Tables tables) {
        String now = RetentionSql.of(tables.dialect().database()).now();
        read = new NamedSql(tables.fill("SELECT consumer, keep_for, keep_results_for, seen_at, cutoff, swept_at, " + now
                + " FROM ${retention} WHERE consumer = :consumer FOR UPDATE"));
        write = new NamedSql(
                tables.fill("UPDATE ${retention} SET cutoff = :cutoff, swept_at = :now WHERE consumer = :consumer"));
    }

    /**
     * How far to go for one consumer.
     *
     * @param markers markers older than this go, none if {@link Micros#NEVER}
     * @param results results older than this go
     */
    public record Cutoff(int consumer, String name, long window, long markers, long results) {}

    /** Takes the limits of these consumers; those that have declared no window are left out. */
    List<Cutoff> take(Connection connection, List<KnownConsumer> consumers, boolean dryRun) throws SQLException {
        List<Cutoff> cutoffs = new ArrayList<>();
        for (KnownConsumer consumer : consumers) { // each by itself: one that is locked must not hold the others
            Transactions.alone(connection, () -> take(connection, consumer, dryRun))
                    .ifPresent(cutoffs::add);
        }
        return cutoffs;
    }

    private Optional<Cutoff> take(Connection connection, KnownConsumer consumer, boolean dryRun) throws SQLException {
        Row row = read(connection, consumer.number());
        if (row == null) {
            return Optional.empty();
        }
        long markers = row.markers();
        if (!dryRun && markers != Micros.NEVER) {
            write(connection, consumer.number(), Math.max(markers, row.cutoff), row.now);
        }
        return Optional.of(
                new Cutoff(consumer.number(), consumer.name(), row.window, markers, row.seenAt - row.results));
    }

    private @Nullable Row read(Connection connection, int consumer) throws SQLException {
        try (PreparedStatement statement =
                        read.prepare(connection, Map.of("consumer", NamedSql.Parameter.of(consumer)));
                ResultSet row = statement.executeQuery()) {
            return row.next()
                    ? new Row(
                            Micros.read(row, 2, Micros.FOR_EVER),
                            row.getLong(3),
                            row.getLong(4),
                            Micros.read(row, 5, Micros.NEVER),
                            Micros.read(row, 6, Micros.NEVER),
                            row.getLong(7))
                    : null;
        }
    }

    private void write(Connection connection, int consumer, long cutoff, long now) throws SQLException {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("cutoff", NamedSql.Parameter.of(cutoff));
        values.put("now", NamedSql.Parameter.of(now));
        try (PreparedStatement statement = write.prepare(connection, values)) {
            statement.executeUpdate();
        }
    }

    private record Row(long window, long results, long seenAt, long cutoff, long sweptAt, long now) {
        private long markers() {
            if (window == Micros.FOR_EVER) {
                return Micros.NEVER;
            }
            long wanted = Math.min(seenAt, now) - window;
            if (cutoff == Micros.NEVER || sweptAt == Micros.NEVER) {
                return wanted; // the first sweep of all, or the first with a shorter window
            }
            long passed = Math.max(0, Math.min(now - sweptAt, DAY));
            return Math.min(wanted, cutoff + 2 * passed);
        }
    }
}
