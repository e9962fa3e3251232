package dev.idem.jdbc.internal.marker;

import dev.idem.spi.MarkerKey;
import dev.idem.spi.PositionRequest;
import dev.idem.spi.StoredResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A watermark for each partition, moved to the highest position that was kept. */
final class WatermarkLedger implements BatchLedger {
    private final Watermarks watermarks;
    private final int consumer;
    private final long claimId;
    private final String claimText;
    private final Map<MarkerKey, Grant> granted = new LinkedHashMap<>();

    WatermarkLedger(Watermarks watermarks, int consumer, long claimId) {
        this.watermarks = watermarks;
        this.consumer = consumer;
        this.claimId = claimId;
        this.claimText = Long.toString(claimId);
    }

    void grant(PositionRequest request, Watermark watermark) {
        granted.put(request.key(), new Grant(request.position().offset(), watermark));
    }

    long claimId() {
        return claimId;
    }

    @Override
    public int consumer() {
        return consumer;
    }

    @Override
    public Collection<MarkerKey> granted() {
        return granted.keySet();
    }

    @Override
    public String claimId(MarkerKey key) {
        return claimText;
    }

    @Override
    public @Nullable String token() {
        return granted.values().stream()
                .findFirst()
                .map(grant -> grant.watermark.token())
                .orElse(null);
    }

    @Override
    public void record(Connection connection, Set<MarkerKey> givenUp, Map<MarkerKey, StoredResult> results)
            throws SQLException {
        move(connection, key -> !givenUp.contains(key));
    }

    private void move(Connection connection, Predicate<MarkerKey> done) throws SQLException {
        Map<Watermark, Long> highest = new LinkedHashMap<>();
        granted.forEach((key, grant) -> {
            if (done.test(key)) {
                highest.merge(grant.watermark, grant.offset, Math::max);
            }
        });
        for (Map.Entry<Watermark, Long> each : highest.entrySet()) {
            watermarks.move(connection, consumer, each.getKey(), each.getValue(), claimId);
        }
    }

    @Override
    public void confirmAndCommit(Connection connection, Set<MarkerKey> givenUp) throws SQLException {
        MarkerKey kept = granted.keySet().stream()
                .filter(key -> !givenUp.contains(key))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("nothing to commit"));
        watermarks.confirmAndCommit(connection, consumer, watermark(kept), claimId);
    }

    private Watermark watermark(MarkerKey key) {
        Grant grant = granted.get(key);
        if (grant == null) {
            throw new IllegalArgumentException(key + " was not granted");
        }
        return grant.watermark;
    }

    @Override
    public boolean isCommitted(Connection connection) throws SQLException {
        return watermarks.isCommitted(
                connection, consumer, watermark(granted().iterator().next()), claimId);
    }

    /** What was committed must not run again, so the watermarks go as far as that. */
    @Override
    public void makeGood(Connection connection, Set<MarkerKey> done, Set<MarkerKey> culprits) throws SQLException {
        move(connection, key -> done.contains(key) || culprits.contains(key));
    }

    private record Grant(long offset, Watermark watermark) {}
}
