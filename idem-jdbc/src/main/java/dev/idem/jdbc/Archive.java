package dev.idem.jdbc;

import dev.idem.spi.QueuedMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Completed messages that are kept for a while. Stateless. */
final class Archive {
    private final RowsSql keep;
    private final NamedSql forget;

    Archive(Tables tables) {
        String now = QueueSql.of(tables.dialect().database()).now();
        keep = new RowsSql(tables.fill("INSERT INTO ${archive} (id, stored_at, completed_at, keep_until, message_key,"
                + " consumer, readable, head, payload) SELECT id, stored_at, " + now + ", " + now
                + " + :keep, message_key, consumer, readable, head, payload FROM ${queue} WHERE id IN ({:id})"));
        forget = new NamedSql(tables.fill("DELETE FROM ${archive} WHERE consumer = :consumer AND keep_until < " + now));
    }

    void keep(Connection connection, List<QueuedMessage> completed, Duration window) throws SQLException {
        if (completed.isEmpty()) {
            return;
        }
        try (PreparedStatement statement = keep.prepare(
                connection, Map.of("keep", NamedSql.Parameter.of(Micros.of(window))), () -> Queue.rowsOf(completed))) {
            statement.executeUpdate();
        }
    }

    /** Removes what was kept long enough. */
    int forget(Connection connection, int consumer) throws SQLException {
        try (PreparedStatement statement =
                forget.prepare(connection, Map.of("consumer", NamedSql.Parameter.of(consumer)))) {
            return statement.executeUpdate();
        }
    }
}
