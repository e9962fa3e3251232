package dev.idem.jdbc;

import dev.idem.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
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
     * @param what what it is walking through: markers, or results
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

    /** Sweeps now, whoever is elected: every consumer, or only those named. */
    public List<Swept> run(List<String> consumers, Consumer<Progress> progress) {
        return sweep(consumers, false, progress);
    }

    /** Counts what {@link #run} would remove at this moment, and changes nothing. */
    public List<Swept> dryRun(List<String> consumers, Consumer<Progress> progress) {
        return sweep(consumers, true, progress);
    }

    private List<Swept> sweep(List<String> consumers, boolean dryRun, Consumer<Progress> progress) {
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

    List<Swept> sweep(List<JdbcConsumers.Known> chosen, boolean dryRun, Sweep sweep, Consumer<Progress> progress)
            throws SQLException {
        List<Cutoffs.Cutoff> cutoffs;
        try (Connection connection = dataSource.getConnection()) {
            cutoffs = new Cutoffs(schema.tables()).take(connection, chosen, dryRun);
        }
        Sweep.Removed removed = sweep.run(cutoffs, dryRun, progress);
        List<Swept> swept = new ArrayList<>();
        for (Cutoffs.Cutoff cutoff : cutoffs) {
            boolean forEver = cutoff.window() == Micros.FOR_EVER;
            swept.add(new Swept(
                    cutoff.name(),
                    forEver ? Optional.empty() : Optional.of(Micros.duration(cutoff.window())),
                    forEver ? Optional.empty() : Optional.of(Micros.instant(cutoff.markers())),
                    removed.of(Expiring.MARKERS, cutoff.consumer()),
                    removed.of(Expiring.RESULTS, cutoff.consumer())));
        }
        return swept;
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
