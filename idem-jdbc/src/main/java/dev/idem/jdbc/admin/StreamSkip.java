package dev.idem.jdbc.admin;

import dev.idem.jdbc.internal.marker.StreamRows;
import dev.idem.jdbc.internal.queue.StreamQueue;
import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.Tables;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/**
 * What it means for a stream that a person gives up one of its messages: it goes on behind that version. Only the next one can
 * be given up, for nobody would remember the others when their turn comes. Stateless.
 */
final class StreamSkip {
    private final Dialect dialect;
    private final StreamRows rows;
    private final StreamQueue queue;
    private final NamedSql read;
    private final NamedSql lock;

    StreamSkip(Tables tables) {
        dialect = tables.dialect();
        rows = new StreamRows(tables);
        queue = new StreamQueue(tables);
        String sql =
                "SELECT stream, current_version FROM ${sequence} WHERE consumer = :consumer AND stream_key = :stream";
        read = new NamedSql(tables.fill(sql));
        lock = new NamedSql(tables.fill(sql + " FOR UPDATE SKIP LOCKED"));
    }

    /** Why it cannot be given up now, as far as can be seen without a lock. */
    Optional<String> refusal(Connection connection, InboxRow row) throws SQLException {
        UUID key = row.stream();
        return key == null
                ? Optional.empty()
                : stream(connection, read, row.number(), key)
                        .filter(stream -> stream.isBefore(row.version()))
                        .map(stream -> "is version " + row.version() + " of a stream that waits for "
                                + (stream.current.getAsLong() + 1)
                                + ": decide about that one first, or pass the gap");
    }

    /** In the transaction that gives the message up. */
    void pass(Connection connection, InboxRow row) throws SQLException {
        UUID key = row.stream();
        if (key == null) {
            return;
        }
        Stream stream = stream(connection, lock, row.number(), key)
                .filter(found -> !found.isBefore(row.version()))
                .orElseThrow(() -> new SQLException("The message's stream is being worked on", "40001", 1213));
        if (stream.current.isEmpty() || stream.current.getAsLong() < row.version()) {
            rows.move(connection, row.number(), Map.of(stream.name, row.version()));
            queue.release(connection, row.number(), Map.of(stream.name, row.version()), Set.of());
        }
    }

    private Optional<Stream> stream(Connection connection, NamedSql sql, int consumer, UUID key) throws SQLException {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("stream", dialect.key().apply(key));
        try (PreparedStatement statement = sql.prepare(connection, values);
                ResultSet found = statement.executeQuery()) {
            if (!found.next()) {
                return Optional.empty();
            }
            String name = found.getString(1);
            long current = found.getLong(2);
            return Optional.of(new Stream(name, found.wasNull() ? OptionalLong.empty() : OptionalLong.of(current)));
        }
    }

    private record Stream(String name, OptionalLong current) {
        boolean isBefore(long version) {
            return current.isPresent() && current.getAsLong() < version - 1;
        }
    }
}
