package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.sql.ClaimLost;
import dev.idem.jdbc.internal.sql.ClaimRow;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A marker for each message. They were all inserted by the claim; those given up are deleted before the commit. */
record MarkerLedger(BatchKit kit, int consumer, Map<MarkerKey, ClaimRow> rows, Horizons.Look look)
        implements BatchLedger {
    @Override
    public Collection<MarkerKey> granted() {
        return rows.keySet();
    }

    private ClaimRow row(MarkerKey key) {
        ClaimRow row = rows.get(key);
        if (row == null) {
            throw new IllegalArgumentException(key + " was not granted");
        }
        return row;
    }

    @Override
    public String claimId(MarkerKey key) {
        return row(key).claimId();
    }

    @Override
    public Optional<Instant> horizon(Connection connection, MarkerKey key, Instant made) throws SQLException {
        return look.at(connection, row(key).markedAt(), made);
    }

    @Override
    public @Nullable String token() {
        return rows.values().stream().findFirst().map(ClaimRow::token).orElse(null);
    }

    @Override
    public void record(Connection connection, Set<MarkerKey> givenUp, Map<MarkerKey, StoredResult> results)
            throws SQLException {
        kit.markers().storeResults(connection, consumer, results);
        if (!givenUp.isEmpty() && kit.markers().remove(connection, consumer, givenUp, claimIds()) != givenUp.size()) {
            throw new ClaimLost("Markers of messages that failed are not there any more");
        }
    }

    /** One marker stands for all: they came with one statement, and nothing before it could be gone back to. */
    @Override
    public void confirmAndCommit(Connection connection, Set<MarkerKey> givenUp) throws SQLException {
        MarkerKey proof = granted().stream()
                .filter(key -> !givenUp.contains(key))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("nothing to commit"));
        kit.single().confirmAndCommit(connection, consumer, proof, row(proof));
    }

    @Override
    public boolean isCommitted(Connection connection) throws SQLException {
        MarkerKey any = granted().iterator().next();
        return new ClaimedMarker(kit.single(), consumer, any, row(any)).isThere(connection);
    }

    @Override
    public void makeGood(Connection connection, Set<MarkerKey> done, Set<MarkerKey> culprits) throws SQLException {
        Set<MarkerKey> undone = new HashSet<>(granted());
        undone.removeAll(done);
        undone.removeAll(culprits);
        if (!undone.isEmpty()) {
            kit.markers().remove(connection, consumer, undone, claimIds());
            new CanaryMarkers(kit.tables()).forget(connection, consumer);
        }
    }

    private Set<String> claimIds() {
        Set<String> ids = new HashSet<>();
        rows.values().forEach(row -> ids.add(row.claimId()));
        return ids;
    }
}
