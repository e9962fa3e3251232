package dev.idem.jdbc;

import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Writes a row of a projection only if it is newer than what is there: the strategy for effects that replace a state, where
 * gaps do not matter and the newest version wins. Immutable and thread-safe.
 *
 * <pre>{@code
 * VersionedUpsert upsert = VersionedUpsert.of(Database.POSTGRESQL, "stock", List.of("sku"), "version", List.of("amount"));
 * upsert.apply(tx.connection(), List.of(sku), version, List.of(amount));
 * }</pre>
 */
public final class VersionedUpsert {
    private final Database database;
    private final int keys;
    private final int columns;
    private final String insert;
    private final String update;
    private final String exists;

    /** What became of a write. */
    public enum Result {
        APPLIED,
        /** The row has this version or a later one. */
        STALE
    }

    private VersionedUpsert(Database database, String table, List<String> keys, String version, List<String> columns) {
        this.database = database;
        this.keys = keys.size();
        this.columns = columns.size();
        String where = keys.stream().map(key -> key + " = ?").collect(Collectors.joining(" AND "));
        List<String> all = new ArrayList<>(keys);
        all.add(version);
        all.addAll(columns);
        String into = "INSERT INTO " + table + " (" + String.join(", ", all) + ") VALUES ("
                + String.join(", ", Collections.nCopies(all.size(), "?")) + ")";
        List<String> set = new ArrayList<>(columns);
        set.add(0, version);
        insert = database != Database.POSTGRESQL
                ? into
                : into + " ON CONFLICT (" + String.join(", ", keys) + ") DO UPDATE SET "
                        + set.stream().map(c -> c + " = excluded." + c).collect(Collectors.joining(", ")) + " WHERE "
                        + table + "." + version + " < excluded." + version;
        update = "UPDATE " + table + " SET " + set.stream().map(c -> c + " = ?").collect(Collectors.joining(", "))
                + " WHERE " + where + " AND " + version + " < ?";
        exists = "SELECT 1 FROM " + table + " WHERE " + where + " FOR UPDATE";
    }

    /**
     * An upsert into one table. Names are of letters, digits and underscores; a table may stand behind its schema and a dot.
     *
     * @param keys the columns of the primary key
     * @param version the column of the version, a number that must not be NULL
     * @param columns all others that are written; they may be none
     */
    public static VersionedUpsert of(
            Database database, String table, List<String> keys, String version, List<String> columns) {
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("an upsert needs the columns of the primary key");
        }
        return new VersionedUpsert(
                Objects.requireNonNull(database, "database"),
                BusinessNames.table(table),
                BusinessNames.columns(keys),
                BusinessNames.column(version),
                BusinessNames.columns(columns));
    }

    /** Writes in the transaction of the connection. Of two at the same time the newer one wins, whoever comes first. */
    public Result apply(
            Connection connection, List<? extends Object> key, long version, List<? extends @Nullable Object> values)
            throws SQLException {
        if (key.size() != keys || values.size() != columns) {
            throw new IllegalArgumentException("the upsert has " + keys + " keys and " + columns + " columns, but got "
                    + key.size() + " and " + values.size());
        }
        List<@Nullable Object> row = new ArrayList<>(key);
        row.add(version);
        row.addAll(values);
        if (database == Database.POSTGRESQL) {
            return execute(connection, insert, row) == 1 ? Result.APPLIED : Result.STALE;
        }
        List<@Nullable Object> change = new ArrayList<>();
        change.add(version);
        change.addAll(values);
        change.addAll(key);
        change.add(version);
        if (execute(connection, update, change) == 1) {
            return Result.APPLIED;
        }
        return isThere(connection, key) ? Result.STALE : inserted(connection, key, row, change);
    }

    /** Somebody may insert the same row meanwhile; only a row that is there then proves that it was the key. */
    private Result inserted(
            Connection connection, List<?> key, List<@Nullable Object> row, List<@Nullable Object> change)
            throws SQLException {
        try {
            execute(connection, insert, row);
            return Result.APPLIED;
        } catch (SQLException failure) {
            if (!SqlFaults.isViolation(failure) || !isThere(connection, key)) {
                throw failure;
            }
            return execute(connection, update, change) == 1 ? Result.APPLIED : Result.STALE;
        }
    }

    private boolean isThere(Connection connection, List<?> key) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(exists)) {
            bind(statement, key);
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    private static int execute(Connection connection, String sql, List<? extends @Nullable Object> values)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, values);
            return statement.executeUpdate();
        }
    }

    static void bind(PreparedStatement statement, List<? extends @Nullable Object> values) throws SQLException {
        for (int i = 0; i < values.size(); i++) {
            statement.setObject(i + 1, values.get(i));
        }
    }
}
