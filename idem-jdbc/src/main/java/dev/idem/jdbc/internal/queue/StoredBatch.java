package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.guard.OwnTransaction;
import dev.idem.jdbc.internal.marker.BatchKit;
import dev.idem.jdbc.internal.marker.JdbcBatch;
import dev.idem.spi.Claim;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueBatch;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueuedMessage;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Stored messages in the transaction that completes them. */
final class StoredBatch extends JdbcBatch implements QueueBatch {
    /** How long handlers of leased messages may share a transaction: long ones should not hold it for others. */
    private static final long SHARED_NANOS = Duration.ofMillis(50).toNanos();

    private final QueueLedger ledger;
    private final List<QueuedMessage> messages;
    private final boolean leased;
    private final long opened = System.nanoTime();

    StoredBatch(
            BatchKit kit,
            OwnTransaction transaction,
            QueueLedger ledger,
            List<QueuedMessage> messages,
            Map<MarkerKey, Claim> refused,
            boolean leased) {
        super(kit, transaction, ledger, refused);
        this.ledger = ledger;
        this.messages = messages;
        this.leased = leased;
    }

    @Override
    public List<QueuedMessage> messages() {
        return messages;
    }

    @Override
    public void change(QueueChange change) {
        ledger.change(change);
    }

    @Override
    public void commit() {
        ledger.done(done());
        ledger.moved(streams().moved());
        super.commit();
        ledger.committed();
    }

    @Override
    public boolean full() {
        return super.full() || (leased && System.nanoTime() - opened > SHARED_NANOS);
    }
}
