package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.Tables;
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

/**
 * Makes good what crashes have left. Leases that have run out need nothing: they are due again. A worker that is gone has
 * left a note of what it was running; messages of it that nobody holds were started and did not end, and that is counted.
 * What is held although nothing is before it any more is released, see {@link OrderingUpkeep} and {@link StreamRecovery}. Each look is
 * bounded. Thread-safe.
 */
final class QueueRecovery {
    /** The notes of workers that live are refreshed long before. */
    private static final Duration NOTE_IS_OLD = Duration.ofSeconds(12);

    private static final Duration WORKER_IS_FORGOTTEN = Duration.ofDays(1);

    private final QueueKit kit;
    private final NamedSql notes;
    private final RowsSql noted;
    private final RowsSql orphans;
    private final RowsSql count;
    private final NamedSql clear;
    private final NamedSql forget;
    private final OrderingUpkeep lines;
    private final StreamRecovery streams;

    QueueRecovery(Tables tables, QueueKit kit) {
        this.kit = kit;
        lines = new OrderingUpkeep(tables, kit);
        streams = new StreamRecovery(tables, kit);
        QueueSql sql = QueueSql.of(tables.dialect().database());
        String now = sql.now();
        String byId = sql.byId();
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
    }

    /** Answers how many messages it touched. What fails keeps nothing else from being done, and is thrown in the end. */
    int recover(Connection connection, int consumer) throws SQLException {
        List<Part> parts =
                List.of(this::countStarts, this::forgetWorkers, lines::look, streams::look, this::forgetArchived);
        int touched = 0;
        SQLException first = null;
        for (Part part : parts) {
            try {
                touched += part.look(connection, consumer);
                connection.commit();
            } catch (SQLException failure) {
                if (first == null) {
                    first = failure;
                } else {
                    first.addSuppressed(failure);
                }
                connection.rollback();
            }
        }
        if (first != null) {
            throw first;
        }
        return touched;
    }

    /** One part of the care, in transactions of its own. */
    @FunctionalInterface
    private interface Part {
        int look(Connection connection, int consumer) throws SQLException;
    }

    private int forgetWorkers(Connection connection, int consumer) throws SQLException {
        try (PreparedStatement statement = forget.prepare(connection, aged(consumer, WORKER_IS_FORGOTTEN))) {
            statement.executeUpdate();
        }
        return 0;
    }

    private int forgetArchived(Connection connection, int consumer) throws SQLException {
        kit.archive().forget(connection, consumer);
        return 0;
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

    private static Map<String, NamedSql.Parameter> aged(int consumer, Duration age) {
        return Map.of(
                "consumer", NamedSql.Parameter.of(consumer),
                "age", NamedSql.Parameter.of(Micros.of(age)));
    }
}
