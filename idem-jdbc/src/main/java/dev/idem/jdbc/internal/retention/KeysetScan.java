package dev.idem.jdbc.internal.retention;

import dev.idem.jdbc.internal.marker.CanaryMarkers;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.RetentionSql;
import dev.idem.jdbc.internal.sql.Tables;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Walks a table in the order of its primary key, consumer by consumer. What is old enough is looked up first, without
 * locks, and then removed key by key: a statement that removes a range would wait on MariaDB for every unit that has just
 * inserted a marker in it, and hold what it has removed meanwhile.
 */
final class KeysetScan implements TableScan {
    private static final int KEYS_IN_A_STATEMENT = 500;

    private final Tables tables;
    private final Expiring expiring;
    private final List<Cutoffs.Cutoff> cutoffs;
    private final RetentionSql sql;
    private final String old;
    private final int rows;
    private int index;
    private @Nullable Object after;
    private @Nullable Object upTo;

    KeysetScan(Expiring expiring, Tables tables, List<Cutoffs.Cutoff> cutoffs, int rows) {
        this.rows = rows;
        this.tables = tables;
        this.expiring = expiring;
        this.cutoffs = cutoffs.stream()
                .filter(cutoff -> expiring.limit(cutoff) != Micros.NEVER)
                .toList();
        sql = RetentionSql.of(tables.dialect().database());
        old = sql.micros(expiring.column());
    }

    @Override
    public String what() {
        return expiring.what();
    }

    @Override
    public boolean hasNext() {
        return index < cutoffs.size();
    }

    @Override
    public Map<Integer, Long> step(Connection connection, boolean dryRun) throws SQLException {
        Cutoffs.Cutoff cutoff = cutoffs.get(index);
        upTo = endOfPage(connection, cutoff.consumer());
        List<Object> keys = expired(connection, cutoff, expiring.unless(dryRun));
        if (keys.isEmpty()) {
            return Map.of();
        }
        return Map.of(cutoff.consumer(), dryRun ? (long) keys.size() : remove(connection, cutoff, keys));
    }

    private @Nullable Object endOfPage(Connection connection, int consumer) throws SQLException {
        String page = "SELECT message_key FROM " + expiring.table() + " WHERE consumer = ?"
                + (after == null ? "" : " AND message_key > ?") + " ORDER BY message_key LIMIT 1 OFFSET " + (rows - 1);
        try (PreparedStatement statement = connection.prepareStatement(tables.fill(page))) {
            statement.setInt(1, consumer);
            if (after != null) {
                statement.setObject(2, after);
            }
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? rows.getObject(1) : null;
            }
        }
    }

    private List<Object> expired(Connection connection, Cutoffs.Cutoff cutoff, String unless) throws SQLException {
        String victims = "SELECT message_key FROM " + expiring.table() + " WHERE consumer = ? AND " + old + " < ?"
                + (after == null ? "" : " AND message_key > ?") + (upTo == null ? "" : " AND message_key <= ?")
                + unless + " ORDER BY message_key";
        try (PreparedStatement statement = connection.prepareStatement(tables.fill(victims))) {
            int i = 1;
            statement.setInt(i++, cutoff.consumer());
            statement.setLong(i++, expiring.limit(cutoff));
            if (after != null) {
                statement.setObject(i++, after);
            }
            if (upTo != null) {
                statement.setObject(i, upTo);
            }
            List<Object> keys = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    keys.add(rows.getObject(1));
                }
            }
            return keys;
        }
    }

    /**
     * The markers first and the consumer's row after them, as a claim has it: the other way round the two would deadlock
     * over and over where old messages return while their markers go.
     */
    private long remove(Connection connection, Cutoffs.Cutoff cutoff, List<Object> keys) throws SQLException {
        long removed = 0;
        long newest = Micros.NEVER;
        for (int from = 0; from < keys.size(); from += KEYS_IN_A_STATEMENT) {
            List<Object> some = keys.subList(from, Math.min(keys.size(), from + KEYS_IN_A_STATEMENT));
            for (long time : delete(connection, cutoff, some)) {
                removed++;
                newest = Math.max(newest, time);
            }
        }
        if (removed > 0 && expiring == Expiring.MARKERS) {
            raise(connection, cutoff, newest);
            forgetSample(connection, cutoff.consumer(), keys.get(0), keys.get(keys.size() - 1));
        }
        return removed;
    }

    private List<Long> delete(Connection connection, Cutoffs.Cutoff cutoff, List<Object> keys) throws SQLException {
        String places = String.join(", ", Collections.nCopies(keys.size(), "?"));
        String delete = tables.fill(sql.deleteKeys().formatted(expiring.table(), places, old, expiring.unless(false)));
        try (PreparedStatement statement = connection.prepareStatement(delete)) {
            int i = 1;
            statement.setInt(i++, cutoff.consumer());
            for (Object key : keys) {
                statement.setObject(i++, key);
            }
            statement.setLong(i, expiring.limit(cutoff));
            List<Long> times = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    times.add(rows.getLong(1));
                }
            }
            return times;
        }
    }

    private void raise(Connection connection, Cutoffs.Cutoff cutoff, long newest) throws SQLException {
        NamedSql.Parameter consumer = NamedSql.Parameter.of(cutoff.consumer());
        try (PreparedStatement lock =
                        new NamedSql(tables.fill(sql.lockRow())).prepare(connection, Map.of("consumer", consumer));
                ResultSet row = lock.executeQuery()) {
            if (!row.next()) { // else raising the horizon below would change nothing
                throw new SQLException("Consumer " + cutoff.name() + " has lost its row of the retention table");
            }
        }
        NamedSql raise = new NamedSql(tables.fill("UPDATE ${retention} SET horizon ="
                + " GREATEST(COALESCE(horizon, :newest), :newest) WHERE consumer = :consumer"));
        Map<String, NamedSql.Parameter> values = Map.of("newest", NamedSql.Parameter.of(newest), "consumer", consumer);
        try (PreparedStatement statement = raise.prepare(connection, values)) {
            statement.executeUpdate();
        }
    }

    /** The marker that was noted, if it was one of these: see {@link CanaryMarkers}. */
    private void forgetSample(Connection connection, int consumer, Object first, Object last) throws SQLException {
        String forget =
                "UPDATE ${retention} SET sample_key = NULL WHERE consumer = ? AND sample_key >= ? AND sample_key <= ?"
                        + " AND NOT EXISTS (SELECT 1 FROM ${marker} m WHERE m.consumer = ? AND m.message_key = sample_key)";
        try (PreparedStatement statement = connection.prepareStatement(tables.fill(forget))) {
            statement.setInt(1, consumer);
            statement.setObject(2, first);
            statement.setObject(3, last);
            statement.setInt(4, consumer);
            statement.executeUpdate();
        }
    }

    @Override
    public void advance() {
        after = upTo;
        if (upTo == null) {
            index++;
        }
    }

    @Override
    public int percent() {
        return -1;
    }
}
