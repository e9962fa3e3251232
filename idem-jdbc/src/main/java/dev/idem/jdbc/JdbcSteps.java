package dev.idem.jdbc;

import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.Marker;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueMove;
import dev.idem.spi.QueueStore.Taking;
import dev.idem.spi.QueuedMessage;
import dev.idem.spi.StepRecord;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Steps and effects of leased messages: each write in one transaction with the proof of the lease. Stateless. */
final class JdbcSteps {
    private final QueueKit kit;
    private final StepTable table;

    JdbcSteps(QueueKit kit) {
        this.kit = kit;
        this.table = new StepTable(kit.batches().tables());
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
                kit, consumer, taking, claimId, token, refused.isEmpty() ? List.of(message) : List.of());
        return new JdbcBatch(
                kit.batches(), transaction, new StepLedger(queue, table, consumer, message, step), refused);
    }

    private static Marker marker(MarkerKey key, StepTable.Claimed stored) {
        return new Marker(key.readable(), null, Micros.instant(stored.storedAt()), stored.claimId(), null);
    }

    boolean write(Connection connection, int consumer, QueuedMessage message, StepRecord effect) throws SQLException {
        kit.queue().isolate(connection);
        if (!table.prove(connection, message)) {
            return false;
        }
        table.put(
                connection,
                consumer,
                message.key(),
                effect,
                ThreadLocalRandom.current().nextLong());
        return true;
    }

    boolean erase(Connection connection, int consumer, QueuedMessage message, String name) throws SQLException {
        kit.queue().isolate(connection);
        if (!table.prove(connection, message)) {
            return false;
        }
        table.erase(connection, consumer, message.key(), name);
        return true;
    }

    boolean complete(Connection connection, int consumer, Taking taking, QueuedMessage message) throws SQLException {
        kit.queue().isolate(connection);
        if (!table.prove(connection, message)) {
            return false;
        }
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
