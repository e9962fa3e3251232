package dev.idem.jdbc;

import dev.idem.Message;
import dev.idem.QueueState;
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
 * @param token what the database calls the transaction that read it, if it has a name for it
 */
record QueueRow(
        QueuedMessage message,
        @Nullable UUID order,
        QueueState state,
        @Nullable String token) {

    static QueueRow of(ResultSet row, String consumer, Dialect dialect) throws SQLException {
        MarkerKey key = new MarkerKey(consumer, dialect.keyOf().read(row, 2), row.getString(3));
        Message message;
        @Nullable String unreadable = null;
        try {
            message = Envelope.message(row.getBytes(4), row.getBytes(5));
        } catch (RuntimeException other) { // one such row must not keep a worker from all the others
            message = Message.builder().build();
            unreadable = other.getMessage();
        }
        QueuedMessage stored = new QueuedMessage(
                row.getLong(1),
                key,
                message,
                row.getLong(6),
                row.getInt(7),
                row.getInt(8),
                Micros.instant(row.getLong(9)),
                QueueState.of(row.getInt(11)) == QueueState.HELD,
                unreadable);
        return new QueueRow(
                stored,
                row.getBytes(10) == null ? null : dialect.keyOf().read(row, 10),
                QueueState.of(row.getInt(11)),
                row.getString(12));
    }
}
