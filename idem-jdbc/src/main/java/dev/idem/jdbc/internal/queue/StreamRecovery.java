package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueueState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Releases what is held although its stream has come to it: somebody had its row locked when the stream was moved, see {@link
 * StreamQueue}, and whoever moved it has ended since. Without this it would wait for the deadline of a gap that is closed. A
 * stream only moves on, so no lock of it is needed. Each look is bounded, and the next goes on where it ended. Thread-safe.
 */
final class StreamRecovery {
    private static final int ROWS_IN_A_STEP = 1_000;
    private static final int STEPS_IN_A_LOOK = 10;

    private final QueueKit kit;
    private final NamedSql held;
    private final ConcurrentMap<Integer, Long> lookedAt = new ConcurrentHashMap<>();

    StreamRecovery(Tables tables, QueueKit kit) {
        this.kit = kit;
        // In the order of an index, also where rows that are not held are many more.
        String byState = tables.dialect().database() == Database.MARIADB
                ? "${queue} FORCE INDEX (${prefix}queue_state)"
                : "${queue}";
        // Only consumers with streams have rows to walk through; those in lines are another's care.
        held = new NamedSql(tables.fill("""
                SELECT q.id, CASE WHEN s.current_version >= q.version - 1 THEN 1 ELSE 0 END
                FROM (SELECT id, stream_key, version FROM %s WHERE consumer = :consumer AND status = %d
                  AND order_key IS NULL AND id > :after AND EXISTS (SELECT 1 FROM ${sequence} WHERE consumer = :consumer)
                  ORDER BY id LIMIT :limit) q
                LEFT JOIN ${sequence} s ON s.consumer = :consumer AND s.stream_key = q.stream_key
                ORDER BY q.id
                """.formatted(byState, QueueState.HELD.code())));
    }

    /** Answers how many messages can be taken now that could not before. */
    int look(Connection connection, int consumer) throws SQLException {
        kit.queue().isolate(connection);
        long after = lookedAt.getOrDefault(consumer, 0L);
        List<Long> stranded = new ArrayList<>();
        boolean more = true;
        for (int step = 0; more && step < STEPS_IN_A_LOOK; step++) {
            int rows = 0;
            try (PreparedStatement statement = held.prepare(connection, values(consumer, after));
                    ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    rows++;
                    after = row.getLong(1);
                    if (row.getInt(2) == 1) {
                        stranded.add(after);
                    }
                }
            }
            more = rows == ROWS_IN_A_STEP;
        }
        lookedAt.put(consumer, more ? after : 0L);
        return kit.streams().letGo(connection, stranded).size();
    }

    private static Map<String, NamedSql.Parameter> values(int consumer, long after) {
        return Map.of(
                "consumer", NamedSql.Parameter.of(consumer),
                "after", NamedSql.Parameter.of(after),
                "limit", NamedSql.Parameter.of(ROWS_IN_A_STEP));
    }
}
