package dev.idem.jdbc;

import dev.idem.BrokenTransactionException;
import dev.idem.CommitRefusedException;
import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.HiddenCommitException;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import dev.idem.spi.TransientStoreException;
import dev.idem.spi.Unit;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Many markers in one transaction, and the handlers' parts of it. */
final class JdbcBatch implements Batch {
    private final BatchKit kit;
    private final OwnTransaction transaction;
    private final int consumer;
    private final Map<MarkerKey, ClaimRow> granted;
    private final Map<MarkerKey, Claim> refused;
    private final Set<MarkerKey> givenUp = new LinkedHashSet<>();
    private final List<BatchPart> kept = new ArrayList<>();
    private final Map<MarkerKey, StoredResult> results = new LinkedHashMap<>();
    private final Deferred<BatchPart> deferred = new Deferred<>();
    private final UnitSavepoint savepoint;
    private @Nullable BatchPart lastUser;
    private boolean flushed;
    private boolean lost;

    JdbcBatch(
            BatchKit kit,
            OwnTransaction transaction,
            int consumer,
            Map<MarkerKey, ClaimRow> granted,
            Map<MarkerKey, Claim> refused) {
        this.kit = kit;
        this.transaction = transaction;
        this.consumer = consumer;
        this.granted = granted;
        this.refused = refused;
        String token =
                granted.values().stream().findFirst().map(ClaimRow::token).orElse(null);
        this.savepoint = new UnitSavepoint(kit.sql(), token);
    }

    @Override
    public Map<MarkerKey, Claim> refused() {
        return refused;
    }

    @Override
    public String claimId(MarkerKey key) {
        return row(key).claimId();
    }

    private ClaimRow row(MarkerKey key) {
        ClaimRow row = granted.get(key);
        if (row == null) {
            throw new IllegalArgumentException(key + " was not granted");
        }
        return row;
    }

    @Override
    public Unit begin(List<MarkerKey> keys, @Nullable String lane) {
        savepoint.begin();
        Guard guard = new Guard(
                transaction.connection(), kit.sqlText(), kit.handlers(), granted.size() == 1 ? null : savepoint);
        return new BatchPart(this, List.copyOf(keys), lane, kit.faults(), guard);
    }

    @Override
    public void giveUp(MarkerKey key) {
        row(key);
        givenUp.add(key);
        results.remove(key);
    }

    @Override
    public boolean forget(Unit unit) {
        BatchPart part = (BatchPart) unit;
        kept.remove(part);
        deferred.forget(part);
        part.keys().forEach(this::giveUp);
        lost |= part.wrote();
        return !part.wrote();
    }

    void defer(BatchPart part, Object lane, String sql, @Nullable Object[] args) {
        deferred.add(part, lane, sql, args);
    }

    void keep(BatchPart part, @Nullable StoredResult result) {
        kept.add(part);
        if (part.wrote()) {
            lastUser = part;
        }
        if (result != null) {
            results.put(part.keys().get(0), result);
        }
    }

    @Override
    public boolean usable() {
        return !lost && !transaction.isTornDown();
    }

    void tearDown() {
        lost = true;
        transaction.tearDown();
    }

    /** Undoes one part. When its savepoint is gone, somebody has ended the transaction. */
    void undo(BatchPart part) {
        deferred.forget(part);
        if (transaction.isTornDown()) {
            return;
        }
        if (granted.size() == 1) {
            lost = true;
            transaction.rollBack();
            if (part.wrote() && leftBehind()) {
                throw new HiddenCommitException(Set.copyOf(part.keys()), Set.of(), null);
            }
            return;
        }
        if (savepoint.isPending()) {
            return;
        }
        SQLException unset = savepoint.failure();
        if (unset != null) {
            endedBy(lastUser, unset);
            return;
        }
        try {
            savepoint.rollBack(transaction.connection());
        } catch (SQLException failure) {
            endedBy(savepoint.isUncertain() ? null : part, failure);
        }
    }

    /** The savepoint is gone. When the connection is lost with it, or nobody knows more, the others begin anew. */
    private void endedBy(@Nullable BatchPart culprit, SQLException evidence) {
        if (culprit == null || kit.faults().isTransient(evidence)) {
            tearDown();
        } else {
            throw broken(culprit, evidence);
        }
    }

    /** A handler that swallowed an error returns normally, but some databases have given the transaction up by then. */
    void refuseSwallowed(BatchPart part, SQLException swallowed) {
        boolean sound = granted.size() == 1;
        if (!sound && !savepoint.isUncertain()) {
            try {
                sound = kit.single().ping(transaction.connection());
            } catch (SQLException unusable) {
                swallowed.addSuppressed(unusable);
            }
        }
        if (!sound) {
            throw new BrokenTransactionException(
                    "The handler of " + part.keys().get(0)
                            + " swallowed an SQL error: its work was undone. Let SQL errors"
                            + " pass, or use a savepoint",
                    false,
                    swallowed);
        }
    }

    @Override
    public Map<Unit, Throwable> flush() {
        if (deferred.isEmpty()) {
            return Map.of();
        }
        flushed = true;
        return new Flush(
                        transaction.connection(),
                        kit.faults(),
                        kept.get(0).keys().get(0))
                .send(deferred);
    }

    @Override
    public void commit() {
        Connection connection = transaction.connection();
        MarkerKey proof = granted.keySet().stream()
                .filter(key -> !givenUp.contains(key))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("nothing to commit"));
        try {
            kit.markers().storeResults(connection, consumer, results);
            if (!givenUp.isEmpty()) {
                kit.markers().remove(connection, consumer, givenUp, claimIds());
            }
        } catch (SQLException failure) {
            throw beforeCommit(proof, failure);
        }
        try {
            kit.single().confirmAndCommit(connection, consumer, proof, row(proof));
            transaction.ended();
        } catch (SQLException failure) {
            throw commitFailure(proof, failure);
        }
    }

    private Set<String> claimIds() {
        Set<String> ids = new HashSet<>();
        granted.values().forEach(row -> ids.add(row.claimId()));
        return ids;
    }

    private RuntimeException beforeCommit(MarkerKey proof, SQLException failure) {
        if (kit.faults().isBroken(failure)) {
            return broken(lastUser, failure);
        }
        return kit.faults().isRefused(failure) && !kit.faults().isTransient(failure)
                ? refused(proof, failure)
                : kit.faults().explained("prepare the commit of the batch with", proof, failure);
    }

    private RuntimeException commitFailure(MarkerKey proof, SQLException failure) {
        if (kit.faults().isBroken(failure)) {
            return broken(lastUser, failure);
        }
        if (kit.faults().isRefused(failure) && !SqlFaults.isConnectionLost(failure)) {
            return kit.faults().isTransient(failure)
                    ? new TransientStoreException(
                            "The database undid the batch with " + proof + " at its commit", failure)
                    : refused(proof, failure);
        }
        tearDown();
        return new CommitUnknownException("The answer to the commit of the batch with " + proof + " was lost", failure);
    }

    private static CommitRefusedException refused(MarkerKey proof, SQLException failure) {
        return new CommitRefusedException(
                "The database refused to commit the batch with " + proof + " (SQLState " + failure.getSQLState()
                        + "): rolled back; " + SqlFaults.advice(failure),
                failure);
    }

    /** The transaction is not the one of the claims any more: was it committed, and by whom? */
    private RuntimeException broken(@Nullable BatchPart culprit, SQLException evidence) {
        lost = true;
        transaction.rollBack();
        if (!leftBehind()) {
            return new BrokenTransactionException(
                    "A handler of a batch swallowed an SQL error or rolled back: everything was undone. Let SQL errors"
                            + " pass, or use a savepoint",
                    false,
                    evidence);
        }
        HiddenCommit hidden = new HiddenCommit(kit, consumer, granted, kept, deferred);
        return flushed || culprit == null
                ? hidden.byAnybody(transaction, evidence)
                : hidden.by(culprit, transaction, evidence);
    }

    private boolean leftBehind() {
        if (transaction.isTornDown()) {
            return false;
        }
        MarkerKey any = granted.keySet().iterator().next();
        try {
            transaction.reopened();
            boolean there = new ClaimedMarker(kit.single(), consumer, any, row(any)).isThere(transaction.connection());
            transaction.rollBack();
            return there;
        } catch (SQLException failure) {
            transaction.tearDown();
            return false;
        }
    }

    @Override
    public void close() {
        transaction.close();
    }
}
