package dev.idem.jdbc.internal.retention;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.Tables;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/** The rows of processes that have given checkpoints. Stateless. */
final class CheckpointRows {
    /** How long the row of a process that is gone is kept; a checkpoint that is older proves nothing. */
    static final long KEEP = Micros.of(Duration.ofDays(90));

    private final Dialect dialect;
    private final NamedSql self;
    private final NamedSql insert;
    private final NamedSql forget;
    private final NamedSql move;
    private final NamedSql find;
    private final NamedSql before;

    CheckpointRows(Tables tables) {
        dialect = tables.dialect();
        String now = QueueSql.of(dialect.database()).now();
        self = new NamedSql(tables.fill("SELECT inbox_id, accepted_at, " + now + " FROM ${meta}"));
        insert =
                new NamedSql(tables.fill("INSERT INTO ${witness} (process, tick, seen_at) VALUES (:process, 0, :now)"));
        forget = new NamedSql(tables.fill("DELETE FROM ${witness} WHERE seen_at < :limit"));
        // Also when it has moved already and the answer was lost; never when it was restored.
        move = new NamedSql(tables.fill("UPDATE ${witness} SET tick = :next, seen_at = :now WHERE process = :process"
                + " AND tick BETWEEN :known AND :next"));
        // Locked, so that no proxy asks a replica, which may be behind.
        find = new NamedSql(tables.fill("SELECT tick FROM ${witness} WHERE process = :process FOR UPDATE"));
        before = new NamedSql(tables.fill("SELECT max(seen_at) FROM ${witness} WHERE seen_at < :limit"));
    }

    /**
     * The tables themselves.
     *
     * @param acceptedAt what was said before then is believed
     * @param now the database's clock
     */
    record Self(UUID inbox, long acceptedAt, long now) {}

    Self self(Connection connection) throws SQLException {
        try (PreparedStatement statement = self.prepare(connection, Map.of());
                ResultSet row = statement.executeQuery()) {
            if (!row.next()) {
                throw new SQLException("The tables do not say which they are");
            }
            return new Self(UUID.fromString(row.getString(1)), row.getLong(2), row.getLong(3));
        }
    }

    void insert(Connection connection, UUID process, long now) throws SQLException {
        update(connection, forget, Map.of("limit", NamedSql.Parameter.of(now - KEEP)));
        update(connection, insert, Map.of("process", dialect.key().apply(process), "now", NamedSql.Parameter.of(now)));
    }

    /** False when the row is not where this process left it. */
    boolean move(Connection connection, StoreCheckpoint known, long now) throws SQLException {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("process", dialect.key().apply(known.process()));
        values.put("known", NamedSql.Parameter.of(known.tick()));
        values.put("next", NamedSql.Parameter.of(known.tick() + 1));
        values.put("now", NamedSql.Parameter.of(now));
        return update(connection, move, values) == 1;
    }

    private static int update(Connection connection, NamedSql sql, Map<String, NamedSql.Parameter> values)
            throws SQLException {
        try (PreparedStatement statement = sql.prepare(connection, values)) {
            return statement.executeUpdate();
        }
    }

    /** How far a process was, as far as these tables know. */
    OptionalLong tick(Connection connection, UUID process) throws SQLException {
        return number(connection, find, Map.of("process", dialect.key().apply(process)));
    }

    /** The last sign of life before a time. */
    Optional<Long> before(Connection connection, long limit) throws SQLException {
        OptionalLong found = number(connection, before, Map.of("limit", NamedSql.Parameter.of(limit)));
        return found.isPresent() ? Optional.of(found.getAsLong()) : Optional.empty();
    }

    private static OptionalLong number(Connection connection, NamedSql sql, Map<String, NamedSql.Parameter> values)
            throws SQLException {
        try (PreparedStatement statement = sql.prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            long value = row.next() ? Micros.read(row, 1, Micros.NEVER) : Micros.NEVER;
            return value == Micros.NEVER ? OptionalLong.empty() : OptionalLong.of(value);
        }
    }
}
