package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.guard.OwnTransaction;
import dev.idem.jdbc.internal.marker.JdbcBatch;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.queue.QueueState;
import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.Marker;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueMove;
import dev.idem.spi.QueueStore.Taking;
import dev.idem.spi.QueuedMessage;
import dev.idem.spi.StepRecord;
import dev.idem.spi.StepStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Steps and effects of leased messages: each write in one transaction with the proof of the lease. Stateless. */
final class JdbcSteps {
    private static final int FENCE_BITS = 20;

    private final QueueKit kit;
    private final NoteConnection notes;
    private final StepTable table;
    private final NamedSql leased;

    JdbcSteps(QueueKit kit, NoteConnection notes) {
        this.kit = kit;
        this.notes = notes;
        Tables tables = kit.batches().tables();
        this.table = new StepTable(tables);
        this.leased = new NamedSql(tables.fill("SELECT id, fence FROM ${queue} WHERE id = :id AND status = "
                + QueueState.IN_PROGRESS.code() + " AND due_at > "
                + QueueSql.of(tables.dialect().database()).now()));
    }

    List<StepRecord> read(Connection connection, int consumer, MarkerKey key) throws SQLException {
        return table.read(connection, consumer, key.value());
    }

    /** Goes on in a transaction that was just begun. */
    Batch open(OwnTransaction transaction, int consumer, Taking taking, QueuedMessage message, StepRecord step)
            throws SQLException {
        Connection connection = transaction.connection();
        long claimId = ThreadLocalRandom.current().nextLong();
        kit.queue().begin(connection, claimId);
        @Nullable
        String token = kit.queue().open(connection, List.of(message), true).get(message.id());
        Optional<StepTable.Claimed> stored = table.claim(connection, consumer, message.key(), step.name());
        Map<MarkerKey, Claim> refused = Map.of();
        if (stored.isPresent()) {
            refused = Map.of(message.key(), new Claim.Taken(marker(message.key(), stored.get())));
        } else if (token == null) {
            refused = Map.of(message.key(), new Claim.Busy());
        }
        QueueLedger queue = new QueueLedger(
                kit, consumer, taking, claimId, token, notes, refused.isEmpty() ? List.of(message) : List.of());
        return new JdbcBatch(
                kit.batches(), transaction, new StepLedger(queue, table, consumer, message, step), refused);
    }

    private static Marker marker(MarkerKey key, StepTable.Claimed stored) {
        return new Marker(key.readable(), null, Micros.instant(stored.storedAt()), stored.claimId(), null);
    }

    /** The messages as they are, after they were locked; those that no worker had before have no steps. */
    List<QueuedMessage> lookedUp(Connection connection, int consumer, List<QueuedMessage> locked) throws SQLException {
        List<UUID> touched = new ArrayList<>();
        locked.stream()
                .filter(m -> !m.isUntouched())
                .forEach(m -> touched.add(m.key().value()));
        if (touched.isEmpty()) {
            return locked;
        }
        Set<UUID> halfDone = table.open(connection, consumer, touched);
        return locked.stream()
                .map(m -> halfDone.contains(m.key().value()) ? m.withSteps() : m)
                .toList();
    }

    StepStore.Intended intend(
            Connection connection,
            int consumer,
            QueuedMessage message,
            MarkerKey ledger,
            StepRecord intent,
            @Nullable StepRecord found)
            throws SQLException {
        kit.queue().isolate(connection);
        if (!table.prove(connection, message)) {
            return StepStore.Intended.LEASE_LOST;
        }
        OptionalLong writer = table.writer(connection, consumer, ledger, intent.name());
        boolean asFound = writer.isEmpty()
                || writer.getAsLong() == writer(message)
                || (found != null && writer.getAsLong() == found.writer());
        if (!asFound) {
            return StepStore.Intended.CHANGED;
        }
        if (writer.isEmpty() && ledger.equals(message.key())) { // the usual way, with no look too many
            table.insert(connection, consumer, ledger, intent, writer(message));
        } else {
            put(connection, consumer, message, ledger, intent);
        }
        return StepStore.Intended.STORED;
    }

    /** By the time of the database, as whoever would take the message over. */
    boolean isLeased(Connection connection, StepRecord effect) throws SQLException {
        Map<String, NamedSql.Parameter> values = Map.of("id", NamedSql.Parameter.of(effect.writer() >> FENCE_BITS));
        try (PreparedStatement statement = leased.prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            return row.next() && writer(row.getLong(1), row.getLong(2)) == effect.writer();
        }
    }

    boolean write(Connection connection, int consumer, QueuedMessage message, MarkerKey ledger, StepRecord effect)
            throws SQLException {
        kit.queue().isolate(connection);
        if (!table.prove(connection, message)) {
            return false;
        }
        put(connection, consumer, message, ledger, effect);
        return true;
    }

    /** In the ledger it has a place only where that is the delivery itself. */
    private void put(Connection connection, int consumer, QueuedMessage message, MarkerKey ledger, StepRecord effect)
            throws SQLException {
        table.put(connection, consumer, message.key(), effect, writer(message));
        if (!ledger.equals(message.key())) {
            table.put(connection, consumer, ledger, effect.at(StepRecord.CLOSED), writer(message));
        }
    }

    boolean erase(Connection connection, int consumer, QueuedMessage message, MarkerKey ledger, String name)
            throws SQLException {
        kit.queue().isolate(connection);
        if (!table.prove(connection, message)) {
            return false;
        }
        table.erase(connection, consumer, message.key(), name, writer(message));
        if (!ledger.equals(message.key())) {
            table.erase(connection, consumer, ledger, name, writer(message));
        }
        return true;
    }

    /** One lease of one stored message; no two have the same for as long as one of them can write. */
    private static long writer(QueuedMessage message) {
        return writer(message.id(), message.fence());
    }

    private static long writer(long id, long fence) {
        return id << FENCE_BITS | (fence & ((1L << FENCE_BITS) - 1));
    }

    boolean complete(Connection connection, int consumer, Taking taking, QueuedMessage message) throws SQLException {
        kit.queue().isolate(connection);
        if (!table.prove(connection, message)) {
            return false;
        }
        kit.late().move(connection, consumer, List.of(message));
        if (!taking.keepFor().isZero()) {
            kit.archive().keep(connection, List.of(message), taking.keepFor());
        }
        QueueChange done = new QueueChange(message, QueueMove.COMPLETE, Duration.ZERO, "", null);
        if (!kit.changes().make(connection, consumer, taking, done)) {
            throw new SQLException("A message that was locked could not be completed", "40001");
        }
        table.close(connection, consumer, message.key());
        return true;
    }
}
