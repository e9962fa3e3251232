package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.sql.ClaimLost;
import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.Hashes;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.StoredText;
import dev.idem.jdbc.internal.sql.StreamSql;
import dev.idem.jdbc.internal.sql.Tables;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The statements on streams, ready for one dialect and one set of tables. A stream nobody has seen gets its row before it is
 * locked, by an insert that passes over a twin; so two arrivals of a first version meet at the row like any others. Stateless.
 */
public final class StreamRows {
    /** How long an insert waits for a twin, where all the others of a batch wait with it. */
    private static final Duration MOMENT = Duration.ofMillis(50);

    private static final int COLUMNS = 3;

    private final Dialect dialect;
    private final RowsSql known;
    private final RowsSql insert;
    private final RowsSql insertLimited;
    private final RowsSql lockNow;
    private final NamedSql lock;
    private final RowsSql lowest;
    private final String move;

    public StreamRows(Tables tables) {
        dialect = tables.dialect();
        StreamSql sql = StreamSql.of(dialect.database());
        String these = " FROM ${sequence} WHERE consumer = :consumer AND stream_key IN ({:stream})";
        known = new RowsSql(tables.fill("SELECT stream_key" + these));
        insert = new RowsSql(tables.fill(sql.insert()));
        insertLimited = new RowsSql(tables.fill(sql.insertLimited()));
        lockNow = new RowsSql(tables.fill("SELECT " + StreamSql.COLUMNS + these + " FOR UPDATE SKIP LOCKED"));
        lock = new NamedSql(tables.fill(sql.lock()));
        lowest = new RowsSql(tables.fill("SELECT stream_key, MIN(version) FROM ${queue} WHERE consumer = :consumer"
                + " AND stream_key IN ({:stream}) AND status <> 5 GROUP BY stream_key"));
        move = tables.fill("UPDATE ${sequence} SET current_version = ?, moved_at = "
                + QueueSql.of(dialect.database()).now() + " WHERE consumer = ? AND stream_key = ?"
                + " AND (current_version IS NULL OR current_version < ?)");
    }

    /** Makes the rows of streams that have none, in a transaction that ends soon. */
    public void ensure(Connection connection, int consumer, Collection<String> streams) throws SQLException {
        Map<UUID, String> missing = missing(connection, consumer, hashed(streams));
        if (!missing.isEmpty()) {
            insert(connection, insert, consumer, missing, Duration.ZERO);
        }
    }

    /** Locks those that can be had within that time; of a wait of zero, those that nobody has now. */
    public Map<String, OptionalLong> lock(
            Connection connection, SqlFaults faults, int consumer, Collection<String> streams, Duration wait)
            throws SQLException {
        Map<UUID, String> hashed = hashed(streams);
        Map<UUID, String> missing = missing(connection, consumer, hashed);
        Duration limit = wait.compareTo(MOMENT) > 0 ? wait : MOMENT;
        if (!missing.isEmpty() && !make(connection, faults, consumer, missing, limit)) {
            hashed.keySet().removeAll(missing.keySet()); // somebody is about to begin one of them
        }
        Map<String, OptionalLong> locked = new HashMap<>();
        if (wait.isZero() && !hashed.isEmpty()) {
            try (PreparedStatement statement = lockNow.prepare(connection, common(consumer, wait), () -> rows(hashed));
                    ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    read(rows, hashed, locked);
                }
            }
        } else {
            for (UUID stream : hashed.keySet()) {
                lockWaiting(connection, consumer, stream, wait, hashed, locked);
            }
        }
        return locked;
    }

    Map<String, Long> lowestStored(Connection connection, int consumer, Collection<String> streams)
            throws SQLException {
        Map<UUID, String> hashed = hashed(streams);
        Map<String, Long> found = new HashMap<>();
        try (PreparedStatement statement =
                        lowest.prepare(connection, common(consumer, Duration.ZERO), () -> rows(hashed));
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                String name = hashed.get(dialect.keyOf().read(rows, 1));
                if (name != null) {
                    found.put(name, rows.getLong(2));
                }
            }
        }
        return found;
    }

    private void lockWaiting(
            Connection connection,
            int consumer,
            UUID stream,
            Duration wait,
            Map<UUID, String> names,
            Map<String, OptionalLong> locked)
            throws SQLException {
        Map<String, NamedSql.Parameter> values = common(consumer, wait);
        values.put("stream", dialect.key().apply(stream));
        try (PreparedStatement statement = lock.prepare(connection, values)) {
            boolean rows = statement.execute();
            while (rows || statement.getUpdateCount() != -1) {
                if (rows) {
                    try (ResultSet row = statement.getResultSet()) {
                        if (row.getMetaData().getColumnCount() == COLUMNS && row.next()) {
                            read(row, names, locked);
                        }
                    }
                }
                rows = statement.getMoreResults();
            }
        }
    }

    private void read(ResultSet row, Map<UUID, String> names, Map<String, OptionalLong> locked) throws SQLException {
        String name = names.get(dialect.keyOf().read(row, 1));
        if (name == null || !StoredText.storable(name).equals(row.getString(2))) {
            throw new SQLException("The name of stream " + name + " has the hash of another one");
        }
        long current = row.getLong(3);
        locked.put(name, row.wasNull() ? OptionalLong.empty() : OptionalLong.of(current));
    }

    /** Behind a savepoint, because on some databases a wait that was too long spoils the transaction. */
    private boolean make(
            Connection connection, SqlFaults faults, int consumer, Map<UUID, String> missing, Duration wait)
            throws SQLException {
        Savepoint before = connection.setSavepoint("idem_streams");
        try {
            insert(connection, insertLimited, consumer, missing, wait);
            connection.releaseSavepoint(before);
            return true;
        } catch (SQLException failure) {
            if (!faults.isBusy(failure)) {
                throw failure;
            }
            connection.rollback(before);
            return false;
        }
    }

    private void insert(Connection connection, RowsSql sql, int consumer, Map<UUID, String> streams, Duration wait)
            throws SQLException {
        boolean oneByOne = !dialect.takenCodes().isEmpty();
        List<Map<UUID, String>> parts = oneByOne
                ? streams.entrySet().stream()
                        .map(e -> Map.of(e.getKey(), e.getValue()))
                        .toList()
                : List.of(streams);
        for (Map<UUID, String> part : parts) {
            try (PreparedStatement statement = sql.prepare(connection, common(consumer, wait), () -> rows(part))) {
                statement.execute();
            } catch (SQLException failure) {
                if (!dialect.takenCodes().contains(failure.getErrorCode())) {
                    throw failure;
                }
            }
        }
    }

    private Map<UUID, String> missing(Connection connection, int consumer, Map<UUID, String> streams)
            throws SQLException {
        Map<UUID, String> missing = new TreeMap<>(streams);
        if (streams.isEmpty()) {
            return missing;
        }
        Set<UUID> there = new HashSet<>();
        try (PreparedStatement statement =
                        known.prepare(connection, common(consumer, Duration.ZERO), () -> rows(streams));
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                there.add(dialect.keyOf().read(rows, 1));
            }
        }
        missing.keySet().removeAll(there);
        return missing;
    }

    /** In one round trip, where the driver can. */
    public void move(Connection connection, int consumer, Map<String, Long> applied) throws SQLException {
        if (applied.isEmpty()) {
            return;
        }
        try (PreparedStatement statement = connection.prepareStatement(move)) {
            for (Map.Entry<String, Long> stream : applied.entrySet()) {
                statement.setLong(1, stream.getValue());
                statement.setInt(2, consumer);
                dialect.key().apply(Hashes.uuid(stream.getKey())).bind(statement, 3);
                statement.setLong(4, stream.getValue());
                statement.addBatch();
            }
            for (int count : statement.executeBatch()) {
                if (count == 0) {
                    throw new ClaimLost("A stream that was locked was moved by somebody else");
                }
            }
        }
    }

    /** In the same order for all callers. */
    private static Map<UUID, String> hashed(Collection<String> streams) {
        Map<UUID, String> hashed = new TreeMap<>();
        streams.forEach(stream -> hashed.put(Hashes.uuid(stream), stream));
        return hashed;
    }

    private Map<String, NamedSql.Parameter> common(int consumer, Duration wait) {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("wait", NamedSql.Parameter.of(dialect.waitUnits().applyAsLong(wait)));
        return values;
    }

    private List<Map<String, NamedSql.Parameter>> rows(Map<UUID, String> streams) {
        return streams.entrySet().stream()
                .map(stream -> Map.of(
                        "stream",
                        dialect.key().apply(stream.getKey()),
                        "name",
                        NamedSql.Parameter.of(StoredText.storable(stream.getValue()))))
                .toList();
    }
}
