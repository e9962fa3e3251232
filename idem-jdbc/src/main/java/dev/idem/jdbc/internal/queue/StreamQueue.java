package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.Hashes;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.queue.QueueState;
import dev.idem.sequence.Gap;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * The messages that wait for others of their stream. They are held only by a transaction that has the stream's lock, and let
 * go by the one that moves the stream, which has it too: so that one sees all of them. With them go messages that were put off
 * because the stream was busy: they need not wait any longer. Stateless.
 *
 * <p>To see a message is not to have its row. A worker that looks for what is due locks also rows that were due when its look
 * began and are held by now; it passes over them, and keeps the locks until its transaction ends. It does not know that, and to
 * wait for it would hold up a stream. So a row that somebody has is left, and released later: by {@link PassedOver} in the process
 * that has moved the stream, and by {@link StreamRecovery} if that has ended.
 */
public final class StreamQueue {
    /** The reason of a message that was parked because of the gap before it. */
    static final String GAP = "GAP";

    private static final String HELD = "status = " + QueueState.HELD.code();

    /** How many versions of those that were put off are released together: about as many as a worker takes. */
    private static final int NEXT_VERSIONS = 100;

    private static final String WAITS = "(q." + HELD + " OR (q.status = " + QueueState.RECEIVED.code()
            + " AND q.due_at > " + QueueSql.DUE_NOW + "))";

    private final Dialect dialect;
    private final RowsSql waiting;
    private final RowsSql free;
    private final RowsSql letGo;
    private final RowsSql held;
    private final NamedSql park;
    private final NamedSql gaps;
    private final NamedSql gap;

    public StreamQueue(Tables tables) {
        dialect = tables.dialect();
        QueueSql sql = QueueSql.of(dialect.database());
        waiting = new RowsSql(tables.fill("SELECT q.id, q.status FROM ${queue} q WHERE q.consumer = :consumer AND "
                + WAITS + " AND ({OR (q.stream_key = :stream AND (q.version <= :next"
                + " OR (q.version <= :last AND q.status = 0)))})"));
        free = new RowsSql(tables.fill(
                "SELECT q.id FROM " + sql.byId() + " WHERE q.id IN ({:id}) AND " + WAITS + " FOR UPDATE SKIP LOCKED"));
        letGo = new RowsSql(tables.fill("UPDATE " + sql.byId() + " SET status = 0, due_at = " + QueueSql.DUE_NOW
                + ", fence = fence + 1 WHERE id IN ({:id})"));
        held = new RowsSql(tables.fill("SELECT q.id FROM " + sql.byId() + " WHERE q.id IN ({:id}) AND q." + HELD));
        park = new NamedSql(tables.fill("UPDATE ${queue} SET fence = fence + 1, due_at = NULL, reason ="
                + " CASE WHEN version = :next THEN '" + GAP + "' ELSE '" + QueueChanges.BEHIND + "' END, status = "
                + QueueState.PARKED.code() + " WHERE consumer = :consumer AND stream_key = :stream AND " + HELD));
        String found = """
                SELECT s.stream, s.current_version,
                  (SELECT MIN(n.version) FROM ${queue} n WHERE n.consumer = s.consumer AND n.stream_key = s.stream_key
                    AND n.version > s.current_version AND n.status <> 5),
                  q.waiting, q.parked, %s - q.oldest
                FROM (SELECT consumer, stream_key, MIN(stored_at) AS oldest,
                    SUM(CASE WHEN status = 3 THEN 1 ELSE 0 END) AS waiting,
                    SUM(CASE WHEN status = 4 THEN 1 ELSE 0 END) AS parked
                  FROM ${queue} WHERE consumer = :consumer AND status IN (3, 4) AND stream_key %s
                  GROUP BY consumer, stream_key) q
                JOIN ${sequence} s ON s.consumer = q.consumer AND s.stream_key = q.stream_key
                WHERE s.current_version IS NOT NULL ORDER BY q.oldest LIMIT :limit
                """;
        gaps = new NamedSql(tables.fill(found.formatted(sql.now(), "IS NOT NULL")));
        gap = new NamedSql(tables.fill(found.formatted(sql.now(), "= :stream")));
    }

    /**
     * Releases what waits for these versions, also what has become stale by them.
     *
     * @param done messages that this very transaction completes, which may still look as if they waited
     */
    public Released release(Connection connection, int consumer, Map<String, Long> applied, Set<Long> done)
            throws SQLException {
        if (applied.isEmpty()) {
            return Released.NOTHING;
        }
        List<Map<String, NamedSql.Parameter>> rows = new ArrayList<>(applied.size());
        applied.forEach((stream, version) -> rows.add(Map.of(
                "stream", dialect.key().apply(Hashes.uuid(stream)),
                "next", NamedSql.Parameter.of(version + 1),
                "last", NamedSql.Parameter.of(version + NEXT_VERSIONS))));
        List<Long> found = new ArrayList<>();
        List<Long> passedOver = new ArrayList<>(); // what was put off comes again by itself, and soon
        try (PreparedStatement statement =
                        waiting.prepare(connection, Map.of("consumer", NamedSql.Parameter.of(consumer)), () -> rows);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                found.add(row.getLong(1));
                if (row.getInt(2) == QueueState.HELD.code()) {
                    passedOver.add(row.getLong(1));
                }
            }
        }
        found.removeAll(done);
        passedOver.removeAll(done);
        List<Long> released = letGo(connection, found);
        passedOver.removeAll(released);
        return new Released(released.size(), passedOver);
    }

    /**
     * What became of those that waited.
     *
     * @param passedOver held messages whose rows somebody had locked: they are to be released after the commit
     */
    public record Released(int count, List<Long> passedOver) {
        static final Released NOTHING = new Released(0, List.of());
    }

    /** Releases those of these that wait and that nobody has locked; answers which. */
    List<Long> letGo(Connection connection, List<Long> ids) throws SQLException {
        List<Long> locked = ids(connection, free, ids);
        if (!locked.isEmpty()) {
            try (PreparedStatement statement = letGo.prepare(connection, Map.of(), () -> rows(locked))) {
                statement.executeUpdate();
            }
        }
        return locked;
    }

    /** Those of these that are held. */
    List<Long> held(Connection connection, List<Long> ids) throws SQLException {
        return ids(connection, held, ids);
    }

    private static List<Map<String, NamedSql.Parameter>> rows(List<Long> ids) {
        return ids.stream()
                .map(id -> Map.of("id", NamedSql.Parameter.of((long) id)))
                .toList();
    }

    private static List<Long> ids(Connection connection, RowsSql sql, List<Long> ids) throws SQLException {
        List<Long> found = new ArrayList<>();
        if (!ids.isEmpty()) {
            try (PreparedStatement statement = sql.prepare(connection, Map.of(), () -> rows(ids));
                    ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    found.add(rows.getLong(1));
                }
            }
        }
        return found;
    }

    /** Parks all that is held in a stream; answers how many. */
    int park(Connection connection, int consumer, String stream, long next) throws SQLException {
        Map<String, NamedSql.Parameter> values = Map.of(
                "consumer", NamedSql.Parameter.of(consumer),
                "stream", dialect.key().apply(Hashes.uuid(stream)),
                "next", NamedSql.Parameter.of(next));
        try (PreparedStatement statement = park.prepare(connection, values)) {
            return statement.executeUpdate();
        }
    }

    List<Gap> gaps(Connection connection, String name, int consumer, int limit) throws SQLException {
        return read(connection, gaps, name, values(consumer, limit));
    }

    /** Of one stream. */
    List<Gap> gap(Connection connection, String name, int consumer, String stream) throws SQLException {
        Map<String, NamedSql.Parameter> values = values(consumer, 1);
        UUID key = Hashes.uuid(stream);
        values.put("stream", dialect.key().apply(key));
        return read(connection, gap, name, values);
    }

    private static Map<String, NamedSql.Parameter> values(int consumer, int limit) {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("limit", NamedSql.Parameter.of(limit));
        return values;
    }

    private static List<Gap> read(
            Connection connection, NamedSql sql, String name, Map<String, NamedSql.Parameter> values)
            throws SQLException {
        List<Gap> found = new ArrayList<>();
        try (PreparedStatement statement = sql.prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                long next = row.getLong(3);
                boolean nothing = row.wasNull(); // all that waits is stale by now
                Gap gap = new Gap(
                        name,
                        row.getString(1),
                        row.getLong(2),
                        next,
                        row.getLong(4),
                        row.getLong(5),
                        Micros.duration(Math.max(0, row.getLong(6))));
                if (!nothing && (gap.isOpen() || gap.waiting() > 0)) {
                    found.add(gap);
                }
            }
        }
        return found;
    }
}
