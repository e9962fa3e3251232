package dev.idem.jdbc.internal.retention;

import dev.idem.jdbc.internal.marker.Partition;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.StoreLog;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Transactions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.slf4j.Logger;

/**
 * Drops partitions that are older than every consumer's window. Markers go with their partition and never before it,
 * whatever shorter windows some consumers have: that costs nothing, and a duplicate is recognised longer.
 *
 * <p>The horizon of every consumer rises to the end of the partition in the transaction that drops it, so a crash leaves
 * both or neither. The drop needs the marker table for itself for a moment. It asks for it with a short lock timeout,
 * because everybody who comes later waits behind it, and gives up after some tries: the next sweep goes on.
 */
final class PartitionDrop {
    private static final Logger log = StoreLog.LOG;

    /**
     * Producers' clocks may be behind by as much, the longest skew a policy allows; and a message that is processed a day
     * after it was made is still remembered for the whole window.
     */
    private static final long SLACK = Micros.of(Duration.ofDays(1));

    /** The first ones are shorter than that of a batch. */
    private static final List<Duration> LOCK_TIMEOUTS = List.of(
            Duration.ofMillis(40),
            Duration.ofMillis(40),
            Duration.ofMillis(80),
            Duration.ofMillis(160),
            Duration.ofMillis(320),
            Duration.ofMillis(640));

    /** How much longer than its lock timeout the rest after a try is. */
    private static final int REST = 10;

    /** A consumer without a window whose markers would vanish without a horizon that tells. */
    /** Messages that are stored and not done, waiting or parked; without their marker they could be stored again. */
    private static final String WAITING = "SELECT 1 FROM ${queue} WHERE status <> 5 AND (%s) LIMIT 1";

    private static final String UNDECLARED = """
            SELECT c.name FROM ${consumer} c
            WHERE NOT EXISTS (SELECT 1 FROM ${retention} r WHERE r.consumer = c.number)
              AND EXISTS (SELECT 1 FROM ${marker} m WHERE m.consumer = c.number AND %s)
            """;

    private static final String COUNT = "SELECT consumer, count(*) FROM ${marker} WHERE %s GROUP BY consumer";

    private final DataSource dataSource;
    private final Tables tables;
    private final List<Cutoffs.Cutoff> cutoffs;
    private final SqlFaults faults;

    PartitionDrop(DataSource dataSource, Tables tables, List<Cutoffs.Cutoff> cutoffs) {
        this.dataSource = dataSource;
        this.tables = tables;
        this.cutoffs = cutoffs;
        this.faults = new SqlFaults(tables.dialect().faults());
    }

    /** What was dropped, or would be: the names, those that could not be, and how many markers of which consumer. */
    record Dropped(List<String> names, List<String> blocked, Map<Integer, Long> markers) {}

    private enum End {
        DROPPED,
        /** It has a reason to stay, or another sweep was faster. */
        LEFT,
        BLOCKED
    }

    Dropped run(boolean dryRun, Sweep.Rest rest) throws SQLException {
        Dropped dropped = new Dropped(new ArrayList<>(), new ArrayList<>(), new HashMap<>());
        for (Partition partition : inTransaction(this::old)) {
            Map<Integer, Long> markers = inTransaction(connection -> count(connection, partition));
            End end = dryRun ? End.DROPPED : drop(partition, rest);
            if (end == End.DROPPED) {
                dropped.names.add(partition.label());
                markers.forEach((consumer, rows) -> dropped.markers.merge(consumer, rows, Long::sum));
            } else if (end == End.BLOCKED) {
                dropped.blocked.add(partition.label());
                break; // whatever is in the way is in the way of the others too
            }
        }
        return dropped;
    }

    /** Those before every limit; none at all when a consumer has declared a window that these limits know nothing of. */
    private List<Partition> old(Connection connection) throws SQLException {
        long limit = limit(connection);
        return Partition.list(connection, tables).stream()
                .filter(Partition::hasWholeDays)
                .filter(partition -> limit != Micros.NEVER && end(partition) + SLACK <= limit)
                .toList();
    }

    private static long end(Partition partition) {
        return partition.to() * 1000;
    }

    private long limit(Connection connection) throws SQLException {
        Map<Integer, Cutoffs.Cutoff> known = new HashMap<>();
        cutoffs.forEach(cutoff -> known.put(cutoff.consumer(), cutoff));
        long limit = Micros.FOR_EVER;
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(tables.fill("SELECT consumer, keep_for FROM ${retention}"))) {
            while (rows.next()) {
                Cutoffs.Cutoff cutoff = known.get(rows.getInt(1));
                if (cutoff == null || Micros.read(rows, 2, Micros.FOR_EVER) > cutoff.window()) {
                    return Micros.NEVER;
                }
                limit = Math.min(limit, cutoff.markers());
            }
        }
        return limit == Micros.FOR_EVER ? Micros.NEVER : limit;
    }

    private Map<Integer, Long> count(Connection connection, Partition partition) throws SQLException {
        Map<Integer, Long> counts = new HashMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(tables.fill(COUNT.formatted(partition.condition())))) {
            while (rows.next()) {
                counts.put(rows.getInt(1), rows.getLong(2));
            }
        }
        return counts;
    }

    private End drop(Partition partition, Sweep.Rest rest) throws SQLException {
        for (Duration lockTimeout : LOCK_TIMEOUTS) {
            try {
                return inTransaction(connection -> drop(connection, partition, lockTimeout));
            } catch (SQLException failure) {
                if (!faults.isTransient(failure)) {
                    throw failure;
                }
                if (!rest.after(lockTimeout.multipliedBy(REST))) {
                    return End.BLOCKED;
                }
            }
        }
        log.warn(
                "{}: partition {} was not dropped, because others hold locks on the markers for too long; tried again at"
                        + " the next sweep. Look for long transactions in pg_stat_activity",
                tables,
                partition.label());
        return End.BLOCKED;
    }

    private End drop(Connection connection, Partition partition, Duration lockTimeout) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET LOCAL lock_timeout = '" + lockTimeout.toMillis() + "ms'");
            // From here on nobody has an uncommitted marker, and everybody who had one is seen below.
            statement.execute(tables.fill("LOCK TABLE ONLY ${marker} IN ACCESS EXCLUSIVE MODE"));
            if (!old(connection).contains(partition)) {
                return End.LEFT; // another one dropped it, or a longer window was declared
            }
            try (ResultSet rows = statement.executeQuery(tables.fill(UNDECLARED.formatted(partition.condition())))) {
                if (rows.next()) {
                    log.warn(
                            "{}: partition {} stays, because {} has markers in it and has declared no window",
                            tables,
                            partition.label(),
                            rows.getString(1));
                    return End.LEFT;
                }
            }
            try (ResultSet rows = statement.executeQuery(tables.fill(WAITING.formatted(partition.condition())))) {
                if (rows.next()) {
                    log.info(
                            "{}: partition {} stays, because messages are in the queue whose markers are in it",
                            tables,
                            partition.label());
                    return End.LEFT;
                }
            }
            long horizon = end(partition) - 1;
            statement.executeUpdate(tables.fill(
                    "UPDATE ${retention} SET horizon = greatest(coalesce(horizon, " + horizon + "), " + horizon + ")"));
            statement.executeUpdate(tables.fill("UPDATE ${retention} SET sample_key = NULL WHERE "
                    + partition.condition("sample_key"))); // the marker that must be there
            statement.execute("DROP TABLE " + partition.name());
            return End.DROPPED;
        }
    }

    private <T> T inTransaction(Work<T> work) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return Transactions.alone(connection, () -> work.run(connection));
        }
    }

    @FunctionalInterface
    private interface Work<T> {
        T run(Connection connection) throws SQLException;
    }
}
