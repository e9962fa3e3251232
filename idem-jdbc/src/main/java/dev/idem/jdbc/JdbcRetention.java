package dev.idem.jdbc;

import dev.idem.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * Removes markers and results that are older than their consumers' windows. A {@link JdbcStore} does this by itself, in
 * one of the instances; this is for a cron job, or to look first. It takes the windows that the instances have declared,
 * and leaves alone the consumers that have declared none. Safe to run at any time, also twice at once. Thread-safe.
 */
public final class JdbcRetention {
    private static final Duration PUT_OFF = Duration.ofHours(1);

    private final DataSource dataSource;
    private final JdbcSchema schema;

    private JdbcRetention(JdbcSchema schema) {
        this.schema = schema;
        this.dataSource = schema.dataSource();
    }

    public static JdbcRetention of(JdbcSchema schema) {
        return new JdbcRetention(schema);
    }

    /**
     * How far a sweep is.
     *
     * @param what what it is walking through: partitions, markers, or results
     * @param percent how much of that it has seen, or -1 where nobody knows
     * @param rows how many rows it has removed, or counted, in there
     */
    public record Progress(String what, int percent, long rows) {}

    /**
     * What a sweep did for one consumer.
     *
     * @param window how long markers are kept; empty for ever
     * @param cutoff markers older than this went; empty if they are kept for ever
     * @param markers how many markers were removed, or would be
     * @param results how many stored results were removed, or would be
     */
    public record Swept(
            String consumer, Optional<Duration> window, Optional<Instant> cutoff, long markers, long results) {}

    /**
     * What a sweep did with partitions.
     *
     * @param permitted whether the role may create and drop them; if not, nothing was done
     * @param created those that were created ahead, or would be
     * @param dropped those that were dropped, or would be
     * @param blocked those that are due, but could not be dropped yet because others hold locks on the markers for long
     */
    public record Partitions(boolean permitted, List<String> created, List<String> dropped, List<String> blocked) {}

    /**
     * What a sweep did.
     *
     * @param partitions empty where the markers are not in partitions
     */
    public record Report(List<Swept> consumers, Optional<Partitions> partitions) {}

    /**
     * Sweeps now, whoever is elected: every consumer, or only those named. Partitions belong to all consumers, so they are
     * dropped only when all are swept.
     */
    public Report run(List<String> consumers, Consumer<Progress> progress) {
        return sweep(consumers, false, progress);
    }

    /** Counts what {@link #run} would remove at this moment, and changes nothing. */
    public Report dryRun(List<String> consumers, Consumer<Progress> progress) {
        return sweep(consumers, true, progress);
    }

    private Report sweep(List<String> consumers, boolean dryRun, Consumer<Progress> progress) {
        List<JdbcConsumers.Known> chosen = JdbcConsumers.of(schema).list().stream()
                .filter(known -> consumers.isEmpty() || consumers.contains(known.name()))
                .toList();
        try {
            if (!dryRun) {
                new Election(dataSource, schema.tables()).putOff(PUT_OFF);
            }
            return sweep(chosen, dryRun, new Sweep(dataSource, schema.tables(), JdbcRetention::rest), progress);
        } catch (SQLException failure) {
            throw new StoreException(
                    "The sweep of " + schema.tables() + " failed (SQLState " + failure.getSQLState() + "): "
                            + SqlFaults.advice(failure)
                            + ". What was removed stays removed and the horizon knows it; run it again",
                    failure);
        }
    }

    Report sweep(List<JdbcConsumers.Known> chosen, boolean dryRun, Sweep sweep, Consumer<Progress> progress)
            throws SQLException {
        Tables tables = schema.tables();
        List<Cutoffs.Cutoff> cutoffs;
        try (Connection connection = dataSource.getConnection()) {
            cutoffs = new Cutoffs(tables).take(connection, chosen, dryRun);
        }
        Map<Integer, Long> dropped = new HashMap<>();
        Optional<Partitions> partitions = tables.partitioned()
                ? Optional.of(partitions(cutoffs, dryRun, sweep.rest(), progress, dropped))
                : Optional.empty();
        Sweep.Removed removed = sweep.run(cutoffs, dryRun, progress);
        List<Swept> swept = new ArrayList<>();
        for (Cutoffs.Cutoff cutoff : cutoffs) {
            boolean forEver = cutoff.window() == Micros.FOR_EVER;
            swept.add(new Swept(
                    cutoff.name(),
                    forEver ? Optional.empty() : Optional.of(Micros.duration(cutoff.window())),
                    forEver ? Optional.empty() : Optional.of(Micros.instant(cutoff.markers())),
                    removed.of(Expiring.MARKERS, cutoff.consumer()) + dropped.getOrDefault(cutoff.consumer(), 0L),
                    removed.of(Expiring.RESULTS, cutoff.consumer())));
        }
        return new Report(swept, partitions);
    }

    private Partitions partitions(
            List<Cutoffs.Cutoff> cutoffs,
            boolean dryRun,
            Sweep.Rest rest,
            Consumer<Progress> progress,
            Map<Integer, Long> markers)
            throws SQLException {
        PartitionKeeper keeper = new PartitionKeeper(dataSource, schema.tables());
        if (!keeper.isPermitted()) {
            return new Partitions(false, List.of(), List.of(), List.of());
        }
        List<String> created = keeper.createAhead(dryRun);
        PartitionDrop.Dropped dropped = new PartitionDrop(dataSource, schema.tables(), cutoffs).run(dryRun, rest);
        markers.putAll(dropped.markers());
        long rows = markers.values().stream().mapToLong(n -> n).sum();
        progress.accept(new Progress("partitions", 100, rows));
        return new Partitions(true, created, dropped.names(), dropped.blocked());
    }

    private static boolean rest(Duration pause) {
        try {
            Thread.sleep(pause.toMillis());
            return true;
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
