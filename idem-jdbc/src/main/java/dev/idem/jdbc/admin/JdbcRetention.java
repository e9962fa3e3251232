package dev.idem.jdbc.admin;

import dev.idem.StoreException;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.internal.marker.KnownConsumer;
import dev.idem.jdbc.internal.retention.Cutoffs;
import dev.idem.jdbc.internal.retention.Election;
import dev.idem.jdbc.internal.retention.RetentionRun;
import dev.idem.jdbc.internal.retention.Sweep;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.Tables;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
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
    private final Tables tables;
    private final JdbcConsumers known;

    private JdbcRetention(JdbcSchema schema) {
        dataSource = schema.dataSource();
        tables = SchemaTables.of(schema);
        known = JdbcConsumers.of(schema);
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
        List<KnownConsumer> chosen = chosen(consumers);
        try {
            if (!dryRun) {
                new Election(dataSource, tables).putOff(PUT_OFF);
            }
            return report(new RetentionRun(dataSource, tables)
                    .run(
                            chosen,
                            dryRun,
                            new Sweep(dataSource, tables, JdbcRetention::rest),
                            seen -> progress.accept(new Progress(seen.what(), seen.percent(), seen.rows()))));
        } catch (SQLException failure) {
            throw new StoreException(
                    "The sweep of " + tables + " failed (SQLState " + failure.getSQLState() + "): "
                            + SqlFaults.advice(failure)
                            + ". What was removed stays removed and the horizon knows it; run it again",
                    failure);
        }
    }

    private List<KnownConsumer> chosen(List<String> consumers) {
        return known.list().stream()
                .filter(consumer -> consumers.isEmpty() || consumers.contains(consumer.name()))
                .map(consumer -> new KnownConsumer(consumer.number(), consumer.name()))
                .toList();
    }

    private static Report report(RetentionRun.Result done) {
        List<Swept> swept =
                done.cutoffs().stream().map(cutoff -> swept(cutoff, done)).toList();
        return new Report(
                swept,
                done.partitions().map(p -> new Partitions(p.permitted(), p.created(), p.dropped(), p.blocked())));
    }

    private static Swept swept(Cutoffs.Cutoff cutoff, RetentionRun.Result done) {
        boolean forEver = cutoff.window() == Micros.FOR_EVER;
        return new Swept(
                cutoff.name(),
                forEver ? Optional.empty() : Optional.of(Micros.duration(cutoff.window())),
                forEver ? Optional.empty() : Optional.of(Micros.instant(cutoff.markers())),
                done.markers(cutoff.consumer()),
                done.results(cutoff.consumer()));
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
