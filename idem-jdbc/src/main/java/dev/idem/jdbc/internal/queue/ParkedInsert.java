package dev.idem.jdbc.internal.queue;

import dev.idem.Message;
import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueMove;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Stores messages that no worker shall take before a person has decided. Stateless. */
final class ParkedInsert {
    private final QueueIntake queue;
    private final QueueChanges changes;
    private final Dialect dialect;
    private final NamedSql find;

    ParkedInsert(Tables tables, QueueKit kit) {
        queue = kit.intake();
        changes = kit.changes();
        dialect = tables.dialect();
        find = new NamedSql(
                tables.fill("SELECT id, fence FROM ${queue} WHERE consumer = :consumer AND message_key = :key"));
    }

    /** By the same two moves as any other message, in one transaction: stored, and parked by whoever could not do it. */
    void park(
            Connection connection,
            int consumer,
            QueueStore.Intake intake,
            List<Message> messages,
            String reason,
            QueueChange.FailedRun run)
            throws SQLException {
        queue.insert(connection, consumer, intake, messages);
        for (Message message : messages) {
            QueuedMessage stored = stored(connection, consumer, intake.keys().of(message), message);
            QueueChange change = new QueueChange(stored, QueueMove.PARK, Duration.ZERO, reason, run);
            if (!changes.make(connection, consumer, "listener", change)) {
                throw new SQLException("A message that was just stored could not be parked", "40001");
            }
        }
    }

    private QueuedMessage stored(Connection connection, int consumer, MarkerKey key, Message message)
            throws SQLException {
        Map<String, NamedSql.Parameter> values = Map.of(
                "consumer",
                NamedSql.Parameter.of(consumer),
                "key",
                dialect.key().apply(key.value()));
        try (PreparedStatement statement = find.prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            if (!row.next()) {
                throw new SQLException(
                        "A message that was just stored is not there: a trigger or a rule is in the way");
            }
            return new QueuedMessage(
                    row.getLong(1),
                    key,
                    message,
                    row.getLong(2),
                    0,
                    0,
                    Instant.EPOCH,
                    Duration.ZERO,
                    false,
                    false,
                    null);
        }
    }
}
