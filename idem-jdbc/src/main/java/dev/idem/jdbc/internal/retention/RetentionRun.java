package dev.idem.jdbc.internal.retention;

import dev.idem.jdbc.internal.marker.KnownConsumer;
import dev.idem.jdbc.internal.sql.Tables;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** One run through everything that grows old: takes the cutoffs, then looks after the partitions, then sweeps. Stateless. */
public final class RetentionRun {
    private final DataSource dataSource;
    private final Tables tables;

    public RetentionRun(DataSource dataSource, Tables tables) {
        this.dataSource = dataSource;
        this.tables = tables;
    }

    /**
     * What a run did, or would do.
     *
     * @param partitions empty where the markers are not in partitions
     */
    public record Result(List<Cutoffs.Cutoff> cutoffs, Sweep.Removed removed, Optional<Partitioned> partitions) {
        /** How many markers of a consumer went, alone or with a partition. */
        public long markers(int consumer) {
            long dropped =
                    partitions.map(p -> p.markers.getOrDefault(consumer, 0L)).orElse(0L);
            return removed.of(Expiring.MARKERS, consumer) + dropped;
        }

        public long results(int consumer) {
            return removed.of(Expiring.RESULTS, consumer);
        }
    }

    /**
     * What a run did with partitions.
     *
     * @param permitted whether the role may create and drop them; if not, nothing was done
     * @param markers how many markers went with them, by consumer
     */
    public record Partitioned(
            boolean permitted,
            List<String> created,
            List<String> dropped,
            List<String> blocked,
            Map<Integer, Long> markers) {}

    public Result run(List<KnownConsumer> chosen, boolean dryRun, Sweep sweep, Consumer<SweepProgress> progress)
            throws SQLException {
        List<Cutoffs.Cutoff> cutoffs;
        try (Connection connection = dataSource.getConnection()) {
            cutoffs = new Cutoffs(tables).take(connection, chosen, dryRun);
        }
        Optional<Partitioned> partitions = tables.partitioned()
                ? Optional.of(partitions(cutoffs, dryRun, sweep.rest(), progress))
                : Optional.empty();
        return new Result(cutoffs, sweep.run(cutoffs, dryRun, progress), partitions);
    }

    private Partitioned partitions(
            List<Cutoffs.Cutoff> cutoffs, boolean dryRun, Sweep.Rest rest, Consumer<SweepProgress> progress)
            throws SQLException {
        PartitionKeeper keeper = new PartitionKeeper(dataSource, tables);
        if (!keeper.isPermitted()) {
            return new Partitioned(false, List.of(), List.of(), List.of(), Map.of());
        }
        List<String> created = keeper.createAhead(dryRun);
        PartitionDrop.Dropped dropped = new PartitionDrop(dataSource, tables, cutoffs).run(dryRun, rest);
        Map<Integer, Long> markers = new HashMap<>(dropped.markers());
        long rows = markers.values().stream().mapToLong(n -> n).sum();
        progress.accept(new SweepProgress("partitions", 100, rows));
        return new Partitioned(true, created, dropped.names(), dropped.blocked(), markers);
    }
}
