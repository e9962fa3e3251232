package dev.idem.jdbc.internal.replay;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.Tables;
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

/** Looks what is known of many messages of a consumer, without a lock: for counting, never for deciding. Stateless. */
final class ReplayLook {
    /** How far back names are looked for: a ledger may be long, and handlers have few effects. */
    private static final int RECENT = 10_000;

    private final Dialect dialect;
    private final RowsSql marked;
    private final RowsSql waiting;
    private final RowsSql effects;
    private final NamedSql names;

    ReplayLook(Tables tables) {
        dialect = tables.dialect();
        String these =
                " JOIN ${consumer} c ON c.number = t.consumer WHERE c.name = :consumer AND t.message_key IN ({:key})";
        String effect = " AND t.kind = " + StepRecord.Kind.EFFECT.code();
        marked = new RowsSql(tables.fill("SELECT t.message_key FROM ${marker} t" + these));
        waiting = new RowsSql(tables.fill("SELECT t.message_key FROM ${queue} t" + these));
        effects = new RowsSql(tables.fill("SELECT t.message_key, t.name, t.state FROM ${step} t" + these + effect));
        names = new NamedSql(tables.fill("SELECT DISTINCT r.name FROM (SELECT t.name FROM ${step} t JOIN ${consumer} c"
                + " ON c.number = t.consumer WHERE c.name = :consumer" + effect + " ORDER BY t.id DESC LIMIT " + RECENT
                + ") r"));
    }

    Set<MarkerKey> marked(Connection connection, String consumer, List<MarkerKey> keys) throws SQLException {
        return these(connection, marked, consumer, keys);
    }

    Set<MarkerKey> waiting(Connection connection, String consumer, List<MarkerKey> keys) throws SQLException {
        return these(connection, waiting, consumer, keys);
    }

    private Set<MarkerKey> these(Connection connection, RowsSql sql, String consumer, List<MarkerKey> keys)
            throws SQLException {
        Set<MarkerKey> found = new HashSet<>();
        look(connection, sql, consumer, keys, (key, row) -> found.add(key));
        return found;
    }

    Map<MarkerKey, Map<String, StepRecord.State>> effects(Connection connection, String consumer, List<MarkerKey> keys)
            throws SQLException {
        Map<MarkerKey, Map<String, StepRecord.State>> found = new HashMap<>();
        look(
                connection,
                effects,
                consumer,
                keys,
                (key, row) -> found.computeIfAbsent(key, k -> new HashMap<>())
                        .put(row.getString(2), StepRecord.State.of(row.getInt(3))));
        return found;
    }

    Set<String> names(Connection connection, String consumer) throws SQLException {
        Set<String> found = new HashSet<>();
        try (PreparedStatement statement =
                        names.prepare(connection, Map.of("consumer", NamedSql.Parameter.of(consumer)));
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                found.add(row.getString(1));
            }
        }
        return found;
    }

    @FunctionalInterface
    private interface Seen {
        void at(MarkerKey key, ResultSet row) throws SQLException;
    }

    private void look(Connection connection, RowsSql sql, String consumer, List<MarkerKey> keys, Seen seen)
            throws SQLException {
        Map<UUID, MarkerKey> byValue = new HashMap<>();
        keys.forEach(key -> byValue.put(key.value(), key));
        List<Map<String, NamedSql.Parameter>> rows = new ArrayList<>();
        byValue.keySet().forEach(key -> rows.add(Map.of("key", dialect.key().apply(key))));
        try (PreparedStatement statement =
                        sql.prepare(connection, Map.of("consumer", NamedSql.Parameter.of(consumer)), () -> rows);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                MarkerKey key = byValue.get(dialect.keyOf().read(row, 1));
                if (key != null) {
                    seen.at(key, row);
                }
            }
        }
    }
}
