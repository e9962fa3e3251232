package dev.idem.jdbc.internal.marker;

import dev.idem.StoreException;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.spi.Claim;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.TransientStoreException;
import dev.idem.spi.UnplacedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Knows where a key can go. Thread-safe.
 *
 * <p><b>Why nothing is done twice.</b> A marker is removed only together with its partition, and then there is no place
 * for another one: a claim of such a key fails in the database, whatever is remembered here. So what is remembered only
 * saves that error, which would undo a batch for one old message; it may be wrong in both directions. A key that seems
 * to have no place is looked up again, and a claim that finds no partition is made again after another look. Should a
 * partition be made again by hand, the horizon, raised in the transaction of the drop, still tells.
 */
final class Partitions {
    /** What the database says to a row that no partition takes, and to nothing else on this table. */
    private static final String NO_PARTITION = "23514";

    /** By how much clocks, and days in their time zones, may differ. */
    private static final long SKEW_DAYS = 2;

    private static final long LOOK_AGAIN_NANOS = Duration.ofSeconds(1).toNanos();

    private final Tables tables;
    private volatile @Nullable Seen seen;

    Partitions(Tables tables) {
        this.tables = tables;
    }

    private record Seen(List<Partition> partitions, long at) {
        private boolean covers(long millis) {
            return partitions.stream().anyMatch(partition -> partition.covers(millis));
        }
    }

    /** Empty when the key has a place; else the answer to its claim. */
    Optional<Claim> outside(Connection connection, MarkerKey key) throws SQLException {
        if (!tables.partitioned()) {
            return Optional.empty();
        }
        long millis = Partition.millis(key.value());
        Seen now = seen;
        if (now == null || (!now.covers(millis) && System.nanoTime() - now.at > LOOK_AGAIN_NANOS)) {
            now = new Seen(Partition.list(connection, tables), System.nanoTime());
            seen = now;
        }
        return now.covers(millis) ? Optional.empty() : Optional.of(answer(now, millis, key));
    }

    private Claim answer(Seen now, long millis, MarkerKey key) {
        List<Partition> partitions = now.partitions;
        long latest = System.currentTimeMillis() + (Partition.DAYS_AHEAD + SKEW_DAYS) * Partition.DAY;
        if (millis > latest) {
            return new Claim.Unforeseen(Instant.ofEpochMilli(latest));
        }
        return !partitions.isEmpty() && millis < partitions.get(0).from()
                ? new Claim.Forgotten(Instant.ofEpochMilli(partitions.get(0).from()))
                : new Claim.Unplaced(unplaced(key, millis, partitions));
    }

    private StoreException unplaced(MarkerKey key, long millis, List<Partition> partitions) {
        String end = partitions.isEmpty()
                ? "there are none"
                : "the last one ends at "
                        + Instant.ofEpochMilli(
                                partitions.get(partitions.size() - 1).to());
        return new UnplacedException(key + " is of " + Instant.ofEpochMilli(millis) + ", and the markers of " + tables
                + " have no partition for that: " + end
                + ". Deliver it again later. Is the producer's clock wrong? Else run 'idem retention run' with the"
                + " owner of the tables, which creates partitions " + Partition.DAYS_AHEAD
                + " days ahead");
    }

    /** A claim that failed because the key's partition was dropped this moment; the next one looks first. */
    Optional<TransientStoreException> missed(SQLException failure, MarkerKey key) {
        if (!tables.partitioned() || !NO_PARTITION.equals(failure.getSQLState())) {
            return Optional.empty();
        }
        seen = null;
        return Optional.of(new TransientStoreException(
                "The partition for " + key + " was dropped this moment, or a check constraint on " + tables
                        + " is in the way",
                failure));
    }
}
