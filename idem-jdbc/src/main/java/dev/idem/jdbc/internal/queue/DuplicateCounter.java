package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import dev.idem.queue.QueueState;
import dev.idem.spi.MarkerKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Finds the rows of messages that came again, and counts them on their markers. Stateless. */
final class DuplicateCounter {
    private static final String ROWS = "SELECT message_key, status FROM ${queue} WHERE consumer = :consumer";

    private final Dialect dialect;
    private final RowsSql count;
    private final RowsSql find;

    DuplicateCounter(Tables tables) {
        dialect = tables.dialect();
        boolean arrays = dialect.database() == Database.POSTGRESQL;
        String these = arrays ? " AND message_key = ANY (CAST(:keys AS uuid[]))" : " AND message_key IN ({:key})";
        find = new RowsSql(tables.fill(ROWS + these));
        String counting = QueueSql.of(dialect.database()).duplicates();
        count = new RowsSql(tables.fill(arrays ? "WITH counted AS (" + counting + ") " + ROWS + these : counting));
    }

    Map<MarkerKey, QueueState> found(Connection connection, int consumer, Collection<MarkerKey> keys)
            throws SQLException {
        try (PreparedStatement statement = prepare(find, connection, consumer, keys);
                ResultSet rows = statement.executeQuery()) {
            return states(rows, keys);
        }
    }

    /** Where one statement can do both, in one round trip. */
    Map<MarkerKey, QueueState> counted(Connection connection, int consumer, Collection<MarkerKey> keys)
            throws SQLException {
        try (PreparedStatement statement = prepare(count, connection, consumer, keys)) {
            if (statement.execute()) {
                try (ResultSet rows = statement.getResultSet()) {
                    return states(rows, keys);
                }
            }
        }
        return found(connection, consumer, keys);
    }

    private PreparedStatement prepare(RowsSql sql, Connection connection, int consumer, Collection<MarkerKey> keys)
            throws SQLException {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        Object[] uuids = keys.stream().map(MarkerKey::value).toArray();
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("keys", NamedSql.Parameter.array("uuid", uuids));
        return sql.prepare(connection, values, () -> each(keys));
    }

    private List<Map<String, NamedSql.Parameter>> each(Collection<MarkerKey> keys) {
        return keys.stream()
                .map(key -> Map.of("key", dialect.key().apply(key.value())))
                .toList();
    }

    private Map<MarkerKey, QueueState> states(ResultSet rows, Collection<MarkerKey> keys) throws SQLException {
        Map<UUID, QueueState> byValue = new HashMap<>();
        while (rows.next()) {
            byValue.put(dialect.keyOf().read(rows, 1), QueueState.of(rows.getInt(2)));
        }
        Map<MarkerKey, QueueState> states = new HashMap<>();
        for (MarkerKey key : keys) {
            QueueState state = byValue.get(key.value());
            if (state != null) {
                states.put(key, state);
            }
        }
        return states;
    }
}
