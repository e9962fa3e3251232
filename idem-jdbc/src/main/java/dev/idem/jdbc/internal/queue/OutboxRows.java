package dev.idem.jdbc.internal.queue;

import dev.idem.Message;
import dev.idem.jdbc.internal.marker.DeferredLock;
import dev.idem.jdbc.internal.sql.Hashes;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.StoredText;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import dev.idem.spi.Envelope;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueStore;
import dev.idem.spi.UnitOfWork;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Writes what a handler publishes into the queue of its destination, by a statement that its unit defers: in the handler's
 * transaction, in one round trip with those of other messages, and undone with its handler alone. It is sent last, because
 * from then on others who publish to the same line wait for the commit.
 */
final class OutboxRows {
    /** A message waits if another one of its ordering key is in the queue, be it of this transaction or of another. */
    private static final String BEHIND =
            "EXISTS (SELECT 1 FROM ${queue} b WHERE b.consumer = :consumer AND b.order_key ="
                    + " :order AND b.status <> 5)";

    /**
     * MariaDB would lock what this reads, and wait for a relay that is waiting for its broker. So every message with an
     * ordering key waits there until it is released, after the commit.
     */
    private static final String ALWAYS_BEHIND = ":order IS NOT NULL";

    /** All that one transaction publishes keeps its order, as if each message had a transaction of its own. */
    private static final String LINE = "outbox";

    private final Database database;
    private final NamedSql insert;
    private final OrderingLocks locks;

    OutboxRows(Tables tables) {
        locks = new OrderingLocks(tables);
        database = tables.dialect().database();
        String now = QueueSql.of(database).now();
        insert = new NamedSql(tables.fill("""
                INSERT INTO ${queue} (consumer, message_key, readable, stored_at, due_at, status, order_key, ordering_key,
                  message_type, head, payload)
                VALUES (:consumer, :key, :readable, %1$s, CASE WHEN %2$s THEN NULL ELSE 0 END,
                  CASE WHEN %2$s THEN 3 ELSE 0 END, :order, :ordering, :type, :head, :payload)
                """.formatted(now, database == Database.MARIADB ? ALWAYS_BEHIND : BEHIND)));
    }

    void defer(UnitOfWork unit, int consumer, QueueStore.Intake intake, Message message) {
        MarkerKey key = intake.keys().of(message);
        String ordering = message.orderingKey().orElse(null);
        UUID order = intake.ordered() && ordering != null ? Hashes.uuid(ordering) : null;
        @Nullable
        Object[] values = insert.values(name -> switch (name) {
            case "consumer" -> consumer;
            case "key" -> bound(key.value());
            case "readable" -> key.readable();
            case "order" -> bound(order);
            case "ordering" -> StoredText.storableOrNull(ordering);
            case "type" -> StoredText.storableOrNull(message.type().orElse(null));
            case "head" -> Envelope.of(message);
            case "payload" -> message.payload();
            default -> throw NamedSql.missing(name);
        });
        unit.deferInOrder(
                LINE, insert.toString(), order == null ? values : with(locks.deferred(consumer, order), values));
    }

    private static @Nullable Object[] with(DeferredLock lock, @Nullable Object[] values) {
        @Nullable Object[] all = Arrays.copyOf(values, values.length + 1);
        all[values.length] = lock;
        return all;
    }

    /** As the database's columns take it. */
    private @Nullable Object bound(@Nullable UUID key) {
        return key == null || database != Database.MARIADB
                ? key
                : ByteBuffer.allocate(16)
                        .putLong(key.getMostSignificantBits())
                        .putLong(key.getLeastSignificantBits())
                        .array();
    }
}
