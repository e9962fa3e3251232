package dev.idem.jdbc.internal.sql;

import dev.idem.Message;
import dev.idem.queue.QueueState;
import dev.idem.spi.Envelope;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueuedMessage;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A stored message as it was read, in every dialect with these columns in this order.
 *
 * @param order the hash of its ordering key, where order is kept
 * @param size of head and payload, in bytes
 * @param left whether they were too large to be read with the others, so that the message has nothing in it yet
 * @param token what the database calls the transaction that read it, if it has a name for it
 */
public record QueueRow(
        QueuedMessage message,
        @Nullable UUID order,
        QueueState state,
        long size,
        boolean left,
        @Nullable String token) {

    public static QueueRow of(ResultSet row, String consumer, Dialect dialect) throws SQLException {
        MarkerKey key = new MarkerKey(consumer, dialect.keyOf().read(row, 2), row.getString(3));
        byte @Nullable [] head = row.getBytes(4);
        QueuedMessage stored = new QueuedMessage(
                row.getLong(1),
                key,
                Message.builder().build(),
                row.getLong(6),
                row.getInt(7),
                row.getInt(8),
                Micros.instant(row.getLong(9)),
                Micros.duration(Math.max(0, row.getLong(13))),
                QueueState.of(row.getInt(11)) == QueueState.HELD,
                false,
                null);
        QueueRow bare = new QueueRow(
                stored,
                row.getBytes(10) == null ? null : dialect.keyOf().read(row, 10),
                QueueState.of(row.getInt(11)),
                row.getLong(12),
                head == null,
                row.getString(14));
        return head == null ? bare : bare.with(head, row.getBytes(5));
    }

    /** The same with its message. */
    public QueueRow with(byte[] head, byte[] payload) {
        Message content;
        @Nullable String unreadable = null;
        try {
            content = Envelope.message(head, payload);
        } catch (RuntimeException other) { // one such row must not keep a worker from all the others
            content = Message.builder().build();
            unreadable = other.getMessage();
        }
        QueuedMessage whole = new QueuedMessage(
                message.id(),
                message.key(),
                content,
                message.fence(),
                message.started(),
                message.failed(),
                message.storedAt(),
                message.age(),
                message.overdue(),
                message.halfDone(),
                unreadable);
        return new QueueRow(whole, order, state, size, false, token);
    }
}
