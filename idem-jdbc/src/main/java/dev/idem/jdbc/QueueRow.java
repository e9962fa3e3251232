package dev.idem.jdbc;

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
        QueuedMessage message = new QueuedMessage(
                row.getLong(1),
                key,
                Envelope.message(row.getBytes(4), row.getBytes(5)),
                row.getLong(6),
                row.getInt(7),
                row.getInt(8),
                Micros.instant(row.getLong(9)));
        return new QueueRow(
                message,
                row.getBytes(10) == null ? null : dialect.keyOf().read(row, 10),
                QueueState.of(row.getInt(11)),
                row.getString(12));
    }
}
