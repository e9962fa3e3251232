package dev.idem.jdbc.admin;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueueState;
import dev.idem.replay.ReplaySpec;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StepRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Messages of a consumer that have done some of their steps, and not all, at the moment a session is asked for. Stateless.
 *
 * <p>They can begin again, if what their steps have written is gone: then they do all of their steps after the session was asked
 * for, which does not bring them. A worker that has one of them now cannot be told that, so such a message does not begin again.
 * Who lost its lease on one finds the fence grown, and its next step is undone.
 */
final class HalfDone {
    private final Dialect dialect;
    private final NamedSql find;
    private final RowsSql free;
    private final RowsSql revoke;
    private final RowsSql forget;

    HalfDone(Tables tables) {
        dialect = tables.dialect();
        QueueSql sql = QueueSql.of(dialect.database());
        String step = "s.kind = " + StepRecord.Kind.STEP.code();
        // What is given up, and what an earlier session has left parked, comes again only if a person wants it.
        find = new NamedSql(tables.fill("SELECT q.id, q.message_key, q.stored_at FROM ${queue} q JOIN ${step} s"
                + " ON s.consumer = q.consumer AND s.message_key = q.message_key AND " + step
                + " WHERE q.consumer = :consumer AND q.status <> " + QueueState.FAILED_TERMINAL.code()
                + " AND (q.status <> " + QueueState.PARKED.code() + " OR q.readable IS NULL OR q.readable NOT LIKE '%"
                + MarkerKey.SESSION + "%')"
                // There an older read of the transaction would hide what was committed since.
                + (dialect.database() == Database.MARIADB ? " LOCK IN SHARE MODE" : "")));
        free = new RowsSql(tables.fill("SELECT q.id FROM " + sql.byId() + " WHERE q.id IN ({:id}) AND (q.status <> "
                + QueueState.IN_PROGRESS.code() + " OR q.due_at < " + sql.now() + ") FOR UPDATE SKIP LOCKED"));
        revoke = new RowsSql(tables.fill("UPDATE " + sql.byId() + " SET fence = fence + 1 WHERE id IN ({:id})"));
        forget = new RowsSql(tables.fill("DELETE FROM ${step} WHERE consumer = :consumer AND kind = "
                + StepRecord.Kind.STEP.code() + " AND message_key IN ({:key})"));
    }

    int count(Connection connection, int consumer) throws SQLException {
        return found(connection, consumer).size();
    }

    /**
     * What became of it.
     *
     * @param left those that were received outside of the session's times, or that a worker has now
     */
    record Restart(int begun, int left) {}

    /** Lets all of them begin again, or none. */
    Restart restart(Connection connection, int consumer, ReplaySpec source) throws SQLException {
        Map<Long, Row> all = found(connection, consumer);
        long from = source.time("from").map(Micros::of).orElse(Long.MIN_VALUE);
        long to = source.time("to").map(Micros::of).orElse(Long.MAX_VALUE);
        List<Long> meant = all.entrySet().stream()
                .filter(row -> row.getValue().storedAt >= from && row.getValue().storedAt < to)
                .map(Map.Entry::getKey)
                .toList();
        Set<Long> free = meant.isEmpty() ? Set.of() : free(connection, meant);
        if (free.isEmpty() || free.size() < all.size()) {
            return new Restart(0, all.size());
        }
        Map<String, NamedSql.Parameter> values = Map.of("consumer", NamedSql.Parameter.of(consumer));
        try (PreparedStatement fences = revoke.prepare(connection, Map.of(), () -> ids(meant));
                PreparedStatement steps = forget.prepare(connection, values, () -> keys(all))) {
            fences.executeUpdate();
            steps.executeUpdate();
        }
        return new Restart(all.size(), 0);
    }

    private record Row(UUID key, long storedAt) {}

    private Map<Long, Row> found(Connection connection, int consumer) throws SQLException {
        Map<Long, Row> found = new HashMap<>();
        try (PreparedStatement statement =
                        find.prepare(connection, Map.of("consumer", NamedSql.Parameter.of(consumer)));
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                found.put(row.getLong(1), new Row(dialect.keyOf().read(row, 2), row.getLong(3)));
            }
        }
        return found;
    }

    private Set<Long> free(Connection connection, List<Long> ids) throws SQLException {
        Set<Long> locked = new HashSet<>();
        try (PreparedStatement statement = free.prepare(connection, Map.of(), () -> ids(ids));
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                locked.add(row.getLong(1));
            }
        }
        return locked;
    }

    private static List<Map<String, NamedSql.Parameter>> ids(List<Long> ids) {
        return ids.stream()
                .map(id -> Map.of("id", NamedSql.Parameter.of((long) id)))
                .toList();
    }

    private List<Map<String, NamedSql.Parameter>> keys(Map<Long, Row> rows) {
        List<Map<String, NamedSql.Parameter>> keys = new ArrayList<>();
        rows.values().forEach(row -> keys.add(Map.of("key", dialect.key().apply(row.key))));
        return keys;
    }
}
