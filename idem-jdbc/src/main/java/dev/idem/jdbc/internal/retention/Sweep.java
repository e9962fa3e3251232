package dev.idem.jdbc.internal.retention;

import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Transactions;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * One sweep: walks through markers and results in short transactions of its own, and rests after each for longer than it
 * took, so that the door hardly notices. Removed markers and the risen horizon commit together, so a crash anywhere
 * leaves a smaller history and a horizon that knows it.
 */
public final class Sweep {
    /** How much longer than a step the rest after it is. */
    private static final int REST = 2;

    /** How many rows a step looks at, about. */
    private static final int ROWS = 5000;

    private static final Duration LONGEST_REST = Duration.ofSeconds(2);
    private static final int TRIES = 5;

    private final DataSource dataSource;
    private final Tables tables;
    private final SqlFaults faults;
    private final Rest rest;
    private final int rows;

    public Sweep(DataSource dataSource, Tables tables, Rest rest) {
        this(dataSource, tables, rest, ROWS);
    }

    /** With steps of another size than the usual one. */
    public Sweep(DataSource dataSource, Tables tables, Rest rest, int rows) {
        this.rows = rows;
        this.dataSource = dataSource;
        this.tables = tables;
        this.faults = new SqlFaults(tables.dialect().faults());
        this.rest = rest;
    }

    /** Waits, and answers whether the sweep should go on. */
    @FunctionalInterface
    public interface Rest {
        boolean after(Duration pause);
    }

    /** What was removed, or would be: rows by consumer. */
    record Removed(Map<Expiring, Map<Integer, Long>> counts, boolean complete) {
        long of(Expiring expiring, int consumer) {
            return counts.getOrDefault(expiring, Map.of()).getOrDefault(consumer, 0L);
        }
    }

    /** How to rest, for those who work beside the walks. */
    Rest rest() {
        return rest;
    }

    Removed run(List<Cutoffs.Cutoff> cutoffs, boolean dryRun, Consumer<SweepProgress> progress) throws SQLException {
        Map<Expiring, Map<Integer, Long>> counts = new EnumMap<>(Expiring.class);
        // Before the markers, which stay for as long as their messages are in the queue.
        boolean going = through(new QueueScan(tables, cutoffs, rows), dryRun, new HashMap<>(), progress);
        for (Expiring expiring : Expiring.values()) {
            Map<Integer, Long> found = counts.computeIfAbsent(expiring, e -> new HashMap<>());
            going = going && through(walk(expiring, cutoffs), dryRun, found, progress);
        }
        return new Removed(counts, going);
    }

    /** False when it was told to stop. */
    private boolean through(TableScan walk, boolean dryRun, Map<Integer, Long> found, Consumer<SweepProgress> progress)
            throws SQLException {
        boolean going = true;
        while (going && walk.hasNext()) {
            long start = System.nanoTime();
            step(walk, dryRun).forEach((consumer, rows) -> found.merge(consumer, rows, Long::sum));
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            walk.advance();
            long sum = found.values().stream().mapToLong(n -> n).sum();
            progress.accept(new SweepProgress(walk.what(), walk.percent(), sum));
            going = rest.after(shorter(took.multipliedBy(REST), LONGEST_REST));
        }
        return going;
    }

    private TableScan walk(Expiring expiring, List<Cutoffs.Cutoff> cutoffs) throws SQLException {
        if (tables.dialect().database() != Database.POSTGRESQL) {
            return new KeysetScan(expiring, tables, cutoffs, rows);
        }
        try (Connection connection = dataSource.getConnection()) {
            return Transactions.alone(connection, () -> CtidScan.through(expiring, tables, connection, cutoffs, rows));
        }
    }

    /** A deadlock, or a lock that another holds for long, is the sweep's to repeat: it has time. */
    private Map<Integer, Long> step(TableScan walk, boolean dryRun) throws SQLException {
        for (int i = 1; ; i++) {
            try (Connection connection = dataSource.getConnection()) {
                return Transactions.alone(connection, () -> walk.step(connection, dryRun));
            } catch (SQLException failure) {
                if (i == TRIES || !faults.isTransient(failure) || !rest.after(Duration.ofMillis(100L << i))) {
                    throw failure;
                }
            }
        }
    }

    private static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }
}
