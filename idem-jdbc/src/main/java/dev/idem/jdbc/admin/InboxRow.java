package dev.idem.jdbc.admin;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.queue.QueueState;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A row of the queue as an operator reads it: never the payload, and nothing that might not be readable.
 *
 * @param number the consumer's
 * @param order the hash of its ordering key, where order is kept
 * @param stream the hash of its stream, where the consumer has a sequence
 * @param version its version in that stream
 * @param leased whether a lease on it is valid
 */
record InboxRow(
        InboxMessage message,
        int number,
        long fence,
        UUID key,
        @Nullable UUID order,
        @Nullable UUID stream,
        long version,
        boolean leased) {
    static final String COLUMNS = "q.id, q.consumer, q.message_key, q.readable, q.status, q.stored_at, q.due_at,"
            + " q.fence, q.started, q.failed, q.message_type, q.ordering_key, q.worker, q.reason, q.error,"
            + " OCTET_LENGTH(q.payload), COALESCE(q.order_key, q.skipped_key), q.stream_key, q.version";

    /** Besides {@link #COLUMNS} it needs the database's time, as the last column. */
    static InboxRow of(ResultSet row, String consumer, Dialect dialect) throws SQLException {
        UUID key = dialect.keyOf().read(row, 3);
        String readable = row.getString(4);
        QueueState state = QueueState.of(row.getInt(5));
        long due = Micros.read(row, 7, Micros.NEVER);
        InboxMessage message = new InboxMessage(
                row.getLong(1),
                consumer,
                readable == null ? key.toString() : readable,
                state,
                Micros.instant(row.getLong(6)),
                due == Micros.NEVER
                        ? Optional.empty()
                        : Optional.of(Micros.instant(due == QueueSql.DUE_NOW ? row.getLong(6) : due)),
                row.getInt(9),
                row.getInt(10),
                Optional.ofNullable(row.getString(11)),
                Optional.ofNullable(row.getString(12)),
                Optional.ofNullable(row.getString(13)),
                Optional.ofNullable(row.getString(14)),
                Optional.ofNullable(row.getBytes(15)).map(InboxRow::text),
                row.getLong(16));
        return new InboxRow(
                message,
                row.getInt(2),
                row.getLong(8),
                key,
                row.getBytes(17) == null ? null : dialect.keyOf().read(row, 17),
                row.getBytes(18) == null ? null : dialect.keyOf().read(row, 18),
                row.getLong(19),
                state == QueueState.IN_PROGRESS && due >= row.getLong(20));
    }

    /** Whether a person had erased what it said. */
    boolean isErased() {
        return message.state() == QueueState.FAILED_TERMINAL
                && message.reason().filter(InboxErasure.REASON::equals).isPresent();
    }

    /** Whatever the bytes are. */
    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
