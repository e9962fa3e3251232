package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.spi.QueuedMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Completed messages that are kept for a while. Stateless. */
final class Archive {
    private static final int MOST_TOGETHER = 500;
    private static final Duration LONGEST = Duration.ofSeconds(1);

    private final String isolation;
    private final RowsSql keep;
    private final NamedSql expired;
    private final RowsSql forget;

    Archive(Tables tables) {
        QueueSql sql = QueueSql.of(tables.dialect().database());
        String now = sql.now();
        isolation = sql.isolation();
        // How many sessions there are is read behind everything a handler has written, see StoredSource. A consumer
        // whose
        // registration a failover has lost is kept as well: it is registered again, and its sessions begin anew.
        keep = new RowsSql(tables.fill("INSERT INTO ${archive} (id, stored_at, completed_at, keep_until, sessions,"
                + " message_key, consumer, readable, head, payload) SELECT q.id, q.stored_at, " + now + ", " + now
                + " + :keep, COALESCE(c.sessions, 0), q.message_key, q.consumer, q.readable, q.head, q.payload FROM ${queue} q"
                + " LEFT JOIN ${consumer} c ON c.number = q.consumer WHERE q.id IN ({:id})"));
        expired = new NamedSql(
                tables.fill("SELECT id FROM ${archive} WHERE consumer = :consumer AND keep_until < (SELECT " + now
                        + ") ORDER BY keep_until LIMIT :limit FOR UPDATE SKIP LOCKED"));
        forget = new RowsSql(tables.fill("DELETE FROM ${archive} WHERE id IN ({:id})"));
    }

    void keep(Connection connection, List<QueuedMessage> completed, Duration window) throws SQLException {
        if (completed.isEmpty()) {
            return;
        }
        try (PreparedStatement statement = keep.prepare(
                connection, Map.of("keep", NamedSql.Parameter.of(Micros.of(window))), () -> Queue.rowsOf(completed))) {
            if (statement.executeUpdate() != completed.size()) {
                throw new SQLException("Not all completed messages could be kept: some are gone already", "40001");
            }
        }
    }

    /**
     * Removes what was kept long enough: a few at a time, each time in a transaction of its own, and for a second at most. What is
     * left is for the next time, so that neither a lock nor a statement lasts long however much there is. Nobody is waited for:
     * whoever has locked one of them keeps only that one.
     */
    int forget(Connection connection, int consumer) throws SQLException {
        int forgotten = 0;
        long start = System.nanoTime();
        while (System.nanoTime() - start < LONGEST.toNanos()) {
            isolate(connection);
            List<Map<String, NamedSql.Parameter>> some = expired(connection, consumer);
            if (!some.isEmpty()) {
                try (PreparedStatement statement = forget.prepare(connection, Map.of(), () -> some)) {
                    forgotten += statement.executeUpdate();
                }
            }
            connection.commit();
            if (some.size() < MOST_TOGETHER) {
                break;
            }
        }
        return forgotten;
    }

    /** Else the look would lock what is next as well. */
    private void isolate(Connection connection) throws SQLException {
        if (!isolation.isEmpty()) {
            try (Statement statement = connection.createStatement()) {
                statement.execute(isolation);
            }
        }
    }

    private List<Map<String, NamedSql.Parameter>> expired(Connection connection, int consumer) throws SQLException {
        List<Map<String, NamedSql.Parameter>> ids = new ArrayList<>();
        Map<String, NamedSql.Parameter> values =
                Map.of("consumer", NamedSql.Parameter.of(consumer), "limit", NamedSql.Parameter.of(MOST_TOGETHER));
        try (PreparedStatement statement = expired.prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                ids.add(Map.of("id", NamedSql.Parameter.of(row.getLong(1))));
            }
        }
        return ids;
    }
}
