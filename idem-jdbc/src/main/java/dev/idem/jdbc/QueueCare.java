package dev.idem.jdbc;

import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Makes good what crashes have left. Leases that have run out need nothing: they are due again. A worker that is gone has
 * left a note of what it was running; messages of it that nobody holds were started and did not end, and that is counted.
 * What is held although nothing is before it any more is let go. Each look is bounded. Thread-safe.
 */
final class QueueCare {
    /** The notes of workers that live are refreshed long before. */
    private static final Duration NOTE_IS_OLD = Duration.ofSeconds(12);

    private static final Duration WORKER_IS_FORGOTTEN = Duration.ofDays(1);
    private static final int KEYS_IN_A_LOOK = 200;

    private final Dialect dialect;
    private final QueueKit kit;
    private final NamedSql notes;
    private final RowsSql noted;
    private final RowsSql orphans;
    private final RowsSql count;
    private final NamedSql clear;
    private final NamedSql forget;
    private final NamedSql firstHeld;
    private final NamedSql nextHeld;
    private final ConcurrentMap<Integer, UUID> lookedAt = new ConcurrentHashMap<>();

    QueueCare(Tables tables, QueueKit kit) {
        this.kit = kit;
        dialect = tables.dialect();
        String now = QueueSql.of(dialect.database()).now();
        String byId = QueueSql.of(dialect.database()).byId();
        notes = new NamedSql(tables.fill("SELECT worker, running FROM ${worker} WHERE consumer = :consumer"
                + " AND running IS NOT NULL AND seen_at < " + now + " - :age FOR UPDATE SKIP LOCKED"));
        String noteds =
                "SELECT id FROM " + byId + " WHERE ({OR (id = :id AND fence = :fence)}) AND status IN (0, 2, 3)";
        noted = new RowsSql(tables.fill(noteds));
        orphans = new RowsSql(tables.fill(noteds + " FOR UPDATE SKIP LOCKED"));
        count = new RowsSql(tables.fill(
                "UPDATE " + byId + " SET started = started + 1, fence = fence + 1" + " WHERE id IN ({:id})"));
        clear = new NamedSql(tables.fill("DELETE FROM ${worker} WHERE worker = :worker"));
        forget = new NamedSql(
                tables.fill("DELETE FROM ${worker} WHERE consumer = :consumer AND running IS NULL AND seen_at < " + now
                        + " - :age"));
        String held = "SELECT order_key FROM ${queue} WHERE consumer = :consumer AND status = 3 AND order_key %s"
                + " ORDER BY order_key LIMIT 1";
        firstHeld = new NamedSql(tables.fill(held.formatted("IS NOT NULL")));
        nextHeld = new NamedSql(tables.fill(held.formatted("> :after")));
    }

    /** Answers how many messages it touched. */
    int recover(Connection connection, int consumer) throws SQLException {
        int touched = countStarts(connection, consumer);
        execute(connection, forget, consumer, WORKER_IS_FORGOTTEN);
        kit.archive().forget(connection, consumer);
        connection.commit(); // the locks on the notes are not needed for the rest
        return touched + kit.lines().release(connection, consumer, someHeld(connection, consumer));
    }

    private int countStarts(Connection connection, int consumer) throws SQLException {
        Map<Long, byte[]> left = new HashMap<>();
        try (PreparedStatement statement = notes.prepare(connection, aged(consumer, NOTE_IS_OLD));
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                left.put(rows.getLong(1), rows.getBytes(2));
            }
        }
        int counted = 0;
        for (Map.Entry<Long, byte[]> note : left.entrySet()) {
            List<Long> free = ids(connection, orphans, note.getValue());
            if (free.size() < ids(connection, noted, note.getValue()).size()) {
                continue; // somebody has some of them this moment: perhaps the one who wrote the note
            }
            if (!free.isEmpty()) {
                try (PreparedStatement statement = count.prepare(connection, Map.of(), () -> rows(free))) {
                    counted += statement.executeUpdate();
                }
            }
            try (PreparedStatement statement =
                    clear.prepare(connection, Map.of("worker", NamedSql.Parameter.of((long) note.getKey())))) {
                statement.executeUpdate();
            }
        }
        return counted;
    }

    private static List<Map<String, NamedSql.Parameter>> pairs(byte[] note) {
        List<Map<String, NamedSql.Parameter>> noted = new ArrayList<>();
        for (ByteBuffer bytes = ByteBuffer.wrap(note); bytes.remaining() >= 2 * Long.BYTES; ) {
            noted.add(Map.of(
                    "id", NamedSql.Parameter.of(bytes.getLong()), "fence", NamedSql.Parameter.of(bytes.getLong())));
        }
        return noted;
    }

    private static List<Long> ids(Connection connection, RowsSql sql, byte[] note) throws SQLException {
        List<Long> found = new ArrayList<>();
        try (PreparedStatement statement = sql.prepare(connection, Map.of(), () -> pairs(note));
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                found.add(rows.getLong(1));
            }
        }
        return found;
    }

    private static List<Map<String, NamedSql.Parameter>> rows(List<Long> ids) {
        return ids.stream()
                .map(id -> Map.of("id", NamedSql.Parameter.of((long) id)))
                .toList();
    }

    /** Walks through the ordering keys that have something held, some at each look, without reading what is held. */
    private List<UUID> someHeld(Connection connection, int consumer) throws SQLException {
        List<UUID> keys = new ArrayList<>();
        UUID after = lookedAt.get(consumer);
        while (keys.size() < KEYS_IN_A_LOOK) {
            after = nextHeld(connection, consumer, after);
            if (after == null) {
                break;
            }
            keys.add(after);
        }
        if (after == null) {
            lookedAt.remove(consumer);
        } else {
            lookedAt.put(consumer, after);
        }
        return keys;
    }

    private @Nullable UUID nextHeld(Connection connection, int consumer, @Nullable UUID after) throws SQLException {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(consumer));
        if (after != null) {
            values.put("after", dialect.key().apply(after));
        }
        try (PreparedStatement statement = (after == null ? firstHeld : nextHeld).prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            return row.next() ? dialect.keyOf().read(row, 1) : null;
        }
    }

    private void execute(Connection connection, NamedSql sql, int consumer, Duration age) throws SQLException {
        try (PreparedStatement statement = sql.prepare(connection, aged(consumer, age))) {
            statement.executeUpdate();
        }
    }

    private static Map<String, NamedSql.Parameter> aged(int consumer, Duration age) {
        return Map.of(
                "consumer", NamedSql.Parameter.of(consumer),
                "age", NamedSql.Parameter.of(Micros.of(age)));
    }
}
