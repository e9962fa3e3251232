package dev.idem.jdbc.internal.marker;

import dev.idem.BrokenTransactionException;
import dev.idem.CommitRefusedException;
import dev.idem.jdbc.internal.guard.Guard;
import dev.idem.jdbc.internal.guard.OwnTransaction;
import dev.idem.jdbc.internal.guard.RunningStatement;
import dev.idem.jdbc.internal.guard.UnitSavepoint;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.Threads;
import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.HiddenCommitException;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import dev.idem.spi.TransientStoreException;
import dev.idem.spi.UnitOfWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Many markers in one transaction, and the handlers' parts of it. */
public class JdbcBatch implements Batch {
    private final BatchKit kit;
    private final OwnTransaction transaction;
    private final BatchLedger ledger;
    private final Map<MarkerKey, Claim> refused;
    private final Set<MarkerKey> givenUp = new LinkedHashSet<>();
    private final List<BatchPart> kept = new ArrayList<>();
    private final Map<MarkerKey, StoredResult> results = new LinkedHashMap<>();
    private final Deferred<BatchPart> deferred = new Deferred<>();
    private final UnitSavepoint savepoint;
    private final JdbcStreams streams;
    private @Nullable BatchPart lastUser;
    private @Nullable BatchPart running;
    private final RunningStatement flushing = new RunningStatement();
    private boolean flushed;
    private boolean lost;

    public JdbcBatch(BatchKit kit, OwnTransaction transaction, BatchLedger ledger, Map<MarkerKey, Claim> refused) {
        this.kit = kit;
        this.transaction = transaction;
        this.ledger = ledger;
        this.refused = refused;
        this.savepoint = new UnitSavepoint(kit.sql(), ledger.token());
        this.streams =
                new JdbcStreams(kit.single().streams(), kit.faults(), transaction::connection, ledger.consumer(), true);
    }

    @Override
    public Map<MarkerKey, Claim> refused() {
        return refused;
    }

    @Override
    public String claimId(MarkerKey key) {
        return ledger.claimId(key);
    }

    @Override
    public Optional<Instant> horizon(MarkerKey key, Instant made) {
        try {
            return ledger.horizon(transaction.connection(), key, made);
        } catch (SQLException failure) {
            throw kit.faults().explained("read the horizon for", key, failure);
        }
    }

    @Override
    public JdbcStreams streams() {
        return streams;
    }

    /** One that is alone needs no savepoint: its rollback is that of the transaction. */
    private boolean isAlone() {
        return ledger.granted().size() == 1;
    }

    @Override
    public UnitOfWork begin(List<MarkerKey> keys, @Nullable String lane) {
        savepoint.begin();
        Guard guard = new Guard(transaction.connection(), kit.sqlText(), kit.handlers(), isAlone() ? null : savepoint);
        running = new BatchPart(this, List.copyOf(keys), lane, kit, guard);
        return running;
    }

    @Override
    public void giveUp(MarkerKey key) {
        givenUp.add(key);
        results.remove(key);
    }

    @Override
    public boolean forget(UnitOfWork unit) {
        BatchPart part = (BatchPart) unit;
        kept.remove(part);
        deferred.forget(part);
        part.keys().forEach(this::giveUp);
        lost |= part.wrote();
        return !part.wrote();
    }

    Deferred<BatchPart> deferred() {
        return deferred;
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
    public boolean full() {
        return savepoint.count() >= kit.sql().mostUnits();
    }

    @Override
    public boolean usable() {
        return !lost && transaction.isUsable();
    }

    @Override
    public void abandon() {
        flushing.cancel();
        tearDown();
    }

    void tearDown() {
        lost = true;
        transaction.tearDown();
    }

    /** Undoes one part. When its savepoint is gone, somebody has ended the transaction. */
    void undo(BatchPart part) {
        deferred.forget(part);
        if (!transaction.isUsable()) {
            if (part.wrote() && ledger.isCommittedBeside()) {
                throw ofAll(part, null);
            }
            return;
        }
        if (isAlone()) {
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
        SQLException failed = part.failed();
        if (failed != null && kit.faults().endsTransaction(failed)) {
            HiddenCommitException hidden = undoAll(part, failed);
            if (hidden != null) {
                throw hidden;
            }
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
            // A statement that carries the savepoint cannot end the transaction.
            endedBy(savepoint.isUncertain() ? lastUser : part, failure);
        }
    }

    /**
     * The savepoint is gone, so the transaction was ended: what became of it is looked up before anything is concluded. Only
     * when the connection is lost with it must the others begin anew, and the next claim tell.
     */
    private void endedBy(@Nullable BatchPart culprit, SQLException evidence) {
        RuntimeException ended = broken(culprit, evidence);
        if (ended instanceof HiddenCommitException
                || (culprit != null && !kit.faults().isTransient(evidence))) {
            throw ended;
        }
    }

    /** A handler that swallowed an error returns normally, but some databases have given the transaction up by then. */
    void refuseSwallowed(BatchPart part, SQLException swallowed) {
        boolean sound = isAlone();
        boolean ended = kit.faults().endsTransaction(swallowed);
        if (!sound && !ended && savepoint.failure() == null) {
            try {
                if (savepoint.isUncertain()) {
                    savepoint.set(transaction.connection());
                }
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
    public Map<UnitOfWork, Throwable> flush() {
        if (deferred.isEmpty()) {
            return Map.of();
        }
        MarkerKey first = kept.get(0).keys().get(0);
        if (!flushed && lastUser != null && !isAlone()) {
            refuseEnded(lastUser, first);
        }
        flushed = true;
        try {
            return new Flush(transaction.connection(), kit.faults(), flushing).send(deferred);
        } catch (SQLException failure) {
            throw undone("send the deferred statements of", first, failure);
        }
    }

    /** Before others' statements are sent, while it is still known who ended the transaction, if somebody did. */
    private void refuseEnded(BatchPart culprit, MarkerKey first) {
        savepoint.begin();
        try {
            savepoint.set(transaction.connection());
        } catch (SQLException gone) {
            throw kit.faults().isTransient(gone)
                    ? kit.faults().explained("send the deferred statements of the batch with", first, gone)
                    : broken(culprit, gone);
        }
    }

    /** The keys whose work is in the transaction. */
    public final Set<MarkerKey> done() {
        Set<MarkerKey> done = new HashSet<>();
        kept.forEach(part -> done.addAll(part.keys()));
        done.removeAll(givenUp);
        return done;
    }

    @Override
    public void commit() {
        Connection connection = transaction.connection();
        MarkerKey any = ledger.granted().iterator().next();
        try {
            streams.write(connection);
            ledger.record(connection, givenUp, results);
        } catch (SQLException failure) {
            throw beforeCommit(any, failure);
        }
        try {
            ledger.confirmAndCommit(connection, givenUp);
            transaction.ended();
        } catch (SQLException failure) {
            throw commitFailure(any, failure);
        }
    }

    private RuntimeException beforeCommit(MarkerKey proof, SQLException failure) {
        RuntimeException ended = broken(lastUser, failure);
        if (ended instanceof HiddenCommitException || kit.faults().isBroken(failure)) {
            return ended;
        }
        return kit.faults().isRefused(failure) && !kit.faults().isTransient(failure)
                ? refused(proof, failure)
                : kit.faults().explained("prepare the commit of the batch with", proof, failure);
    }

    /** Something failed before the commit was sent; a statement that was sent may have committed nevertheless. */
    private RuntimeException undone(String what, MarkerKey proof, SQLException failure) {
        RuntimeException ended = broken(lastUser, failure);
        return ended instanceof HiddenCommitException
                ? ended
                : kit.faults().explained(what + " the batch with", proof, failure);
    }

    private RuntimeException commitFailure(MarkerKey proof, SQLException failure) {
        if (kit.faults().isBroken(failure)) {
            return broken(lastUser, failure);
        }
        if (kit.faults().isRefused(failure)) {
            return kit.faults().isTransient(failure)
                    ? new TransientStoreException(
                            "The database undid the batch with " + proof + " at its commit", failure)
                    : refused(proof, failure);
        }
        boolean answered = kit.faults().isAnswer(failure);
        lost = true;
        if (answered) {
            transaction.rollBack();
        } else {
            transaction.tearDown();
        }
        return new CommitUnknownException(
                answered
                        ? "The database answered the commit of the batch with " + proof + " with SQLState "
                                + failure.getSQLState()
                        : "The answer to the commit of the batch with " + proof + " was lost",
                failure,
                answered);
    }

    private static CommitRefusedException refused(MarkerKey proof, SQLException failure) {
        return new CommitRefusedException(
                "The database refused to commit the batch with " + proof + " (SQLState " + failure.getSQLState()
                        + "): rolled back; " + SqlFaults.advice(failure),
                failure);
    }

    /** The transaction is not the one of the claims any more: was it committed, and by whom? */
    private RuntimeException broken(@Nullable BatchPart culprit, SQLException evidence) {
        HiddenCommitException hidden = undoAll(culprit, evidence);
        return hidden != null
                ? hidden
                : new BrokenTransactionException(
                        "A handler of a batch swallowed an SQL error or rolled back: everything was undone. Let SQL"
                                + " errors pass, or use a savepoint",
                        false,
                        evidence);
    }

    /** Answers what is known and put right if somebody had committed before, so that not everything is undone. */
    private @Nullable HiddenCommitException undoAll(@Nullable BatchPart culprit, SQLException evidence) {
        lost = true;
        transaction.rollBack();
        if (!leftBehind()) {
            return null;
        }
        if (!transaction.isUsable()) {
            return ofAll(culprit, evidence);
        }
        HiddenCommit hidden = new HiddenCommit(ledger, kept, deferred);
        return flushed || culprit == null
                ? hidden.byAnybody(transaction, evidence)
                : hidden.by(culprit, transaction, evidence);
    }

    /** Nothing can be put right without the connection, so a person looks at all that ran. */
    private HiddenCommitException ofAll(@Nullable BatchPart culprit, @Nullable SQLException evidence) {
        Set<MarkerKey> ran = new LinkedHashSet<>();
        kept.forEach(part -> ran.addAll(part.keys()));
        if (culprit != null) {
            ran.addAll(culprit.keys());
        }
        return new HiddenCommitException(ran, Set.of(), evidence);
    }

    private boolean leftBehind() {
        return transaction.lookAfterEnd(ledger::isCommitted) || (!transaction.isUsable() && ledger.isCommittedBeside());
    }

    /** The last handler loses its connection, however it ended, before the connection goes to somebody else. */
    @Override
    public void close() {
        if (running != null) {
            running.close();
        }
        if (!Threads.isFree(flushing.cancelling(), GuardedUnit.STRAY_CALL_LIMIT)) {
            tearDown(); // a cancellation is on its way, and must not hit what somebody else does on the connection
        }
        transaction.close();
    }
}
