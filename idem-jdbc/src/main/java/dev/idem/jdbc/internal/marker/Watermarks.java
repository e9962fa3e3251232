package dev.idem.jdbc.internal.marker;

import dev.idem.Position;
import dev.idem.jdbc.internal.sql.ClaimLost;
import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.Hashes;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.WatermarkSql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** The statements on watermarks, ready for one dialect and one set of tables. Stateless. */
final class Watermarks {
    private final Dialect dialect;
    private final NamedSql insert;
    private final NamedSql lock;
    private final NamedSql lockFirst;
    private final NamedSql move;
    private final NamedSql confirmAndCommit;
    private final NamedSql committed;
    private final NamedSql read;

    Watermarks(Tables tables) {
        dialect = tables.dialect();
        WatermarkSql sql = dialect.watermark();
        insert = new NamedSql(tables.fill(sql.insert()));
        lock = new NamedSql(tables.fill(sql.lock()));
        lockFirst = new NamedSql(tables.fill(sql.lockFirst()));
        move = new NamedSql(tables.fill(sql.move()));
        confirmAndCommit = new NamedSql(tables.fill(sql.confirmAndCommit()));
        committed = new NamedSql(tables.fill(sql.committed()));
        read = new NamedSql(tables.fill("SELECT position FROM ${watermark} WHERE consumer = :consumer"
                + " AND stream_key = :stream AND partition_number = :partition"));
    }

    /** Locks the watermark of a position's partition, making it if there is none. */
    Watermark lock(Connection connection, int consumer, Position position, long claimId, Duration wait, boolean first)
            throws SQLException {
        Map<String, NamedSql.Parameter> values = values(consumer, position);
        values.put("wait", NamedSql.Parameter.of(dialect.waitUnits().applyAsLong(wait)));
        values.put("claimid", NamedSql.Parameter.of(claimId));
        values.put("name", NamedSql.Parameter.of(position.stream()));
        Optional<Watermark> found = locked(first ? lockFirst : lock, connection, values, position);
        if (found.isPresent()) {
            return found.get();
        }
        try (PreparedStatement statement = insert.prepare(connection, values)) {
            statement.execute();
        }
        return locked(lock, connection, values, position)
                .orElseThrow(() -> new SQLException("The mark of " + position + " was inserted but cannot be read"));
    }

    private static Optional<Watermark> locked(
            NamedSql sql, Connection connection, Map<String, NamedSql.Parameter> values, Position position)
            throws SQLException {
        try (PreparedStatement statement = sql.prepare(connection, values)) {
            boolean rows = statement.execute();
            while (rows || statement.getUpdateCount() != -1) {
                if (rows) {
                    try (ResultSet row = statement.getResultSet()) {
                        if (row.getMetaData().getColumnCount() == Watermark.COLUMNS && row.next()) {
                            return Optional.of(Watermark.of(position, row));
                        }
                    }
                }
                rows = statement.getMoreResults();
            }
            return Optional.empty();
        }
    }

    OptionalLong read(Connection connection, int consumer, Position position) throws SQLException {
        try (PreparedStatement statement = read.prepare(connection, values(consumer, position));
                ResultSet row = statement.executeQuery()) {
            return row.next() ? OptionalLong.of(row.getLong(1)) : OptionalLong.empty();
        }
    }

    void move(Connection connection, int consumer, Watermark watermark, long to, long claimId) throws SQLException {
        Map<String, NamedSql.Parameter> values = values(consumer, watermark.partition());
        values.put("before", NamedSql.Parameter.of(watermark.position()));
        values.put("position", NamedSql.Parameter.of(to));
        values.put("claimid", NamedSql.Parameter.of(claimId));
        try (PreparedStatement statement = move.prepare(connection, values)) {
            if (statement.executeUpdate() != 1) {
                throw new ClaimLost("The mark of " + watermark.partition() + " was moved by somebody else");
            }
        }
    }

    void confirmAndCommit(Connection connection, int consumer, Watermark watermark, long claimId) throws SQLException {
        try (PreparedStatement statement = confirmAndCommit.prepare(connection, proof(consumer, watermark, claimId))) {
            statement.execute();
        }
    }

    boolean isCommitted(Connection connection, int consumer, Watermark watermark, long claimId) throws SQLException {
        try (PreparedStatement statement = committed.prepare(connection, proof(consumer, watermark, claimId))) {
            return statement.execute() && statement.getResultSet().next();
        }
    }

    private Map<String, NamedSql.Parameter> proof(int consumer, Watermark watermark, long claimId) {
        Map<String, NamedSql.Parameter> values = values(consumer, watermark.partition());
        values.put("claimid", NamedSql.Parameter.of(claimId));
        values.put("token", NamedSql.Parameter.of(watermark.token()));
        return values;
    }

    private Map<String, NamedSql.Parameter> values(int consumer, Position position) {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("stream", dialect.key().apply(Hashes.uuid(position.stream())));
        values.put("partition", NamedSql.Parameter.of(position.partition()));
        return values;
    }
}
