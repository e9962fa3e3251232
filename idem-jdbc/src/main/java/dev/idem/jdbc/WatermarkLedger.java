package dev.idem.jdbc;

import dev.idem.spi.MarkerKey;
import dev.idem.spi.PositionRequest;
import dev.idem.spi.StoredResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A mark for each partition, moved to the highest position that was kept. */
final class WatermarkLedger implements BatchLedger {
    private final Marks marks;
    private final int consumer;
    private final long claimId;
    private final Map<MarkerKey, PositionRequest> granted = new LinkedHashMap<>();
    private final Map<MarkerKey, Mark> markOf = new LinkedHashMap<>();

    WatermarkLedger(Marks marks, int consumer, long claimId) {
        this.marks = marks;
        this.consumer = consumer;
        this.claimId = claimId;
    }

    void grant(PositionRequest request, Mark mark) {
        granted.put(request.key(), request);
        markOf.put(request.key(), mark);
    }

    long claimId() {
        return claimId;
    }

    @Override
    public Collection<MarkerKey> granted() {
        return granted.keySet();
    }

    @Override
    public String claimId(MarkerKey key) {
        return Long.toString(claimId);
    }

    @Override
    public @Nullable String token() {
        return markOf.values().stream().findFirst().map(Mark::token).orElse(null);
    }

    @Override
    public void record(Connection connection, Set<MarkerKey> givenUp, Map<MarkerKey, StoredResult> results)
            throws SQLException {
        move(connection, key -> !givenUp.contains(key));
    }

    private void move(Connection connection, Predicate<MarkerKey> done) throws SQLException {
        Map<Mark, Long> highest = new LinkedHashMap<>();
        granted.forEach((key, request) -> {
            Mark mark = markOf.get(key);
            if (mark != null && done.test(key)) {
                highest.merge(mark, request.position().offset(), Math::max);
            }
        });
        for (Map.Entry<Mark, Long> each : highest.entrySet()) {
            marks.move(connection, consumer, each.getKey(), each.getValue(), claimId);
        }
    }

    @Override
    public void confirmAndCommit(Connection connection, Set<MarkerKey> givenUp) throws SQLException {
        Set<MarkerKey> kept = new HashSet<>(granted());
        kept.removeAll(givenUp);
        marks.confirmAndCommit(connection, consumer, mark(kept.iterator().next()), claimId);
    }

    private Mark mark(MarkerKey key) {
        Mark mark = markOf.get(key);
        if (mark == null) {
            throw new IllegalArgumentException(key + " was not granted");
        }
        return mark;
    }

    @Override
    public boolean isCommitted(Connection connection) throws SQLException {
        return marks.isCommitted(connection, consumer, mark(granted().iterator().next()), claimId);
    }

    /** What was committed must not run again, so the marks go as far as that. */
    @Override
    public void makeGood(Connection connection, Set<MarkerKey> done, Set<MarkerKey> culprits) throws SQLException {
        move(connection, key -> done.contains(key) || culprits.contains(key));
    }
}
