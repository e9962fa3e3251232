package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.marker.BatchLedger;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueuedMessage;
import dev.idem.spi.StepRecord;
import dev.idem.spi.StoredResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Records that a step is done, in the transaction of its work. The message stays in the queue. The proof of the lease locks its
 * row, so it comes last: while the work runs, the lease can be renewed, or lost.
 */
record StepLedger(QueueLedger queue, StepTable table, int consumer, QueuedMessage message, StepRecord step)
        implements BatchLedger {
    @Override
    public Collection<MarkerKey> granted() {
        return queue.granted();
    }

    @Override
    public String claimId(MarkerKey key) {
        return queue.claimId(key);
    }

    @Override
    public @Nullable String token() {
        return queue.token();
    }

    @Override
    public void record(Connection connection, Set<MarkerKey> givenUp, Map<MarkerKey, StoredResult> results)
            throws SQLException {
        if (!table.prove(connection, message)) {
            throw new SQLException("The message belongs to another worker now", "40001");
        }
        MarkerKey key = message.key();
        StepRecord done = step.in(StepRecord.State.DONE, results.get(key));
        try {
            table.insert(connection, consumer, key, done, Long.parseLong(claimId(key)));
        } catch (SQLException failure) {
            // A commit of ours, whose answer was lost, may have come through meanwhile. The next run reads who stored
            // it.
            throw SqlFaults.isViolation(failure)
                    ? new SQLException("The step may be stored already", "40001", failure)
                    : failure;
        }
    }

    /** Nothing of the queue is done, so nothing is removed from it. */
    @Override
    public void confirmAndCommit(Connection connection, Set<MarkerKey> givenUp) throws SQLException {
        queue.confirmAndCommit(connection, givenUp);
    }

    @Override
    public boolean isCommitted(Connection connection) throws SQLException {
        return queue.isCommitted(connection);
    }

    @Override
    public boolean isCommittedBeside() {
        return queue.isCommittedBeside();
    }

    @Override
    public void makeGood(Connection connection, Set<MarkerKey> done, Set<MarkerKey> culprits) throws SQLException {
        queue.makeGood(connection, done, culprits);
    }
}
