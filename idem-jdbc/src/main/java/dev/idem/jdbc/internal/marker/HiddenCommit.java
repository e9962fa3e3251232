package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.guard.OwnTransaction;
import dev.idem.jdbc.internal.sql.StoreLog;
import dev.idem.spi.HiddenCommitException;
import dev.idem.spi.MarkerKey;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;

/**
 * Cleans up after a handler that committed a batch's transaction from inside. With it were committed the markers of all
 * messages of the batch, also of those that had not run yet or had failed: these must go at once, or the messages would
 * be taken for done. A watermark, on the other hand, was not moved yet, and must be.
 */
record HiddenCommit(BatchLedger ledger, List<BatchPart> kept, Deferred<BatchPart> deferred) {
    private static final Logger log = StoreLog.LOG;
    private static final int TRIES = 3;

    /** Nobody knows when it happened, so the work of each message that ran may be there or not. */
    HiddenCommitException byAnybody(OwnTransaction transaction, SQLException evidence) {
        Set<MarkerKey> culprits = new LinkedHashSet<>();
        kept.forEach(part -> culprits.addAll(part.keys()));
        return account(transaction, culprits, Set.of(), evidence);
    }

    HiddenCommitException by(BatchPart culprit, OwnTransaction transaction, SQLException evidence) {
        Set<MarkerKey> done = new LinkedHashSet<>();
        Set<MarkerKey> culprits = new LinkedHashSet<>();
        for (BatchPart part : kept) {
            if (part == culprit) {
                break;
            }
            if (!deferred.has(part)) {
                done.addAll(part.keys());
            } else if (part.wrote()) {
                culprits.addAll(part.keys()); // half of its work is committed, half was still to be sent
            }
        }
        culprits.addAll(culprit.keys());
        return account(transaction, culprits, done, evidence);
    }

    private HiddenCommitException account(
            OwnTransaction transaction, Set<MarkerKey> culprits, Set<MarkerKey> done, SQLException evidence) {
        for (int i = 1; i <= TRIES; i++) {
            try {
                transaction.reopened();
                Connection connection = transaction.connection();
                ledger.makeGood(connection, done, culprits);
                connection.commit();
                transaction.ended();
                break;
            } catch (SQLException failure) {
                transaction.rollBack();
                log.error(
                        "A handler committed inside a batch, and what is recorded of it could not be put right (try {} of"
                                + " {}). Of {}, only these ran: {} and {}",
                        i,
                        TRIES,
                        ledger.granted(),
                        done,
                        culprits,
                        failure);
            }
        }
        return new HiddenCommitException(culprits, done, evidence);
    }
}
