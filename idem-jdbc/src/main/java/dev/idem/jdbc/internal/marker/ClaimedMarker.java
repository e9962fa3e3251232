package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.sql.ClaimRow;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The marker a unit has claimed, and what can be asked about it. */
record ClaimedMarker(Markers markers, int consumer, MarkerKey key, ClaimRow row) {
    String claimId() {
        return row.claimId();
    }

    /** Whether the confirm also proves that the transaction is the one of the claim, and not only that the marker is there. */
    boolean namesTransaction() {
        return row.token() != null;
    }

    /** False, or an exception that {@link SqlFaults#isBroken} knows, when the transaction has lost it. */
    boolean confirm(Connection connection) throws SQLException {
        return markers.confirm(connection, consumer, key, row);
    }

    @Nullable
    SQLWarning confirmAndCommit(Connection connection) throws SQLException {
        return markers.confirmAndCommit(connection, consumer, key, row);
    }

    void store(Connection connection, StoredResult result) throws SQLException {
        markers.storeResult(connection, consumer, key, result);
    }

    /** See {@link dev.idem.spi.UnitOfWork#horizon}. */
    Optional<Instant> horizon(Connection connection, Instant made) throws SQLException {
        return markers.horizons().look(consumer).at(connection, row.markedAt(), made);
    }

    /** Whether a marker of this very claim can be read; another delivery's marker is none of our business. */
    boolean isThere(Connection connection) throws SQLException {
        Optional<ClaimRow> found = markers.read(connection, consumer, key);
        return found.isPresent() && found.get().claimId().equals(row.claimId());
    }
}
