package dev.idem.jdbc.internal.marker;

import dev.idem.BrokenTransactionException;
import dev.idem.StoreException;
import dev.idem.jdbc.internal.guard.Guard;
import dev.idem.jdbc.internal.guard.JoinedSavepoint;
import dev.idem.jdbc.internal.guard.RollbackOnly;
import dev.idem.spi.StoredResult;
import dev.idem.spi.Streams;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A unit inside somebody else's transaction, from a savepoint on. It never commits. Until it is proven for the first time
 * closing it undoes it; what cannot be undone for certain makes the owner's transaction one that can only be rolled back.
 */
final class JoinedUnit extends GuardedUnit {
    private final ClaimedMarker marker;
    private final Connection outer;
    private final JoinedSavepoint savepoint;
    private final RollbackOnly rollbackOnly;
    private boolean ended;
    private boolean stray;

    JoinedUnit(
            Connection outer,
            JoinedSavepoint savepoint,
            ClaimedMarker marker,
            BatchKit kit,
            Guard guard,
            RollbackOnly rollbackOnly) {
        super(marker.key(), kit, guard);
        this.marker = marker;
        this.outer = outer;
        this.savepoint = savepoint;
        this.rollbackOnly = rollbackOnly;
    }

    @Override
    public Optional<Instant> horizon(Instant made) {
        return horizon(marker, outer, made);
    }

    @Override
    public Streams streams() {
        return streams(marker, () -> outer);
    }

    @Override
    public String claimId() {
        return marker.claimId();
    }

    /** The handler may as well use the outer connection as it is, of which nothing is known here. */
    @Override
    public boolean isOwn(Throwable failure) {
        return true;
    }

    @Override
    public void flush() throws SQLException {
        send(outer);
    }

    @Override
    public void revoke() {
        if (!takeAway()) {
            stray = true;
            throw strayThread();
        }
        SQLException where = guard.condemned();
        if (where != null) {
            throw rolledBackInside(where);
        }
    }

    /**
     * Stores and proves; the owner of the transaction commits. The first time is before the answer, because the owner may
     * commit without asking, and its commit may look like success on a transaction that is broken.
     */
    @Override
    public void commit(@Nullable StoredResult result) {
        if (result != null) {
            store(result);
        }
        try {
            if (!marker.namesTransaction()) {
                savepoint.prove(outer);
            }
            if (!marker.confirm(
                    outer)) { // the last word: whatever ended the transaction until now has taken the marker along
                throw broken(null);
            }
        } catch (SQLException failure) {
            throw broken(failure);
        }
        ended = true;
    }

    private void store(StoredResult result) {
        try {
            marker.store(outer, result);
        } catch (SQLException failure) {
            throw faults.isBroken(failure) ? broken(failure) : faults.explained("store the result of", key, failure);
        }
    }

    private BrokenTransactionException broken(@Nullable SQLException evidence) {
        return leftBehind()
                ? BrokenTransactionException.hiddenCommit(key, evidence)
                : new BrokenTransactionException(
                        "The marker of " + key
                                + " is not in the outer transaction any more. Roll it back; the message is not done",
                        false,
                        evidence);
    }

    @Override
    public void rollback() {
        ended = true;
        if (stray || !takeAway()) {
            rollbackOnly.mark(outer, false);
            return;
        }
        try {
            savepoint.undo(outer);
        } catch (SQLException | RuntimeException failure) {
            boolean left = leftBehind();
            rollbackOnly.mark(outer, true);
            throw left ? BrokenTransactionException.hiddenCommit(key, failure) : notUndone(failure);
        }
    }

    private StoreException notUndone(Exception failure) {
        String what = "undo, inside an outer transaction that can now only be rolled back,";
        return failure instanceof SQLException sql
                ? faults.explained(what, key, sql)
                : new StoreException("Could not " + what + " " + key, failure);
    }

    /** When this is not the transaction of the claim any more, the marker tells whether that one was committed. */
    private boolean leftBehind() {
        try {
            return marker.isThere(outer);
        } catch (SQLException | RuntimeException unusable) {
            return false; // the transaction is aborted or lost, and nothing of it was committed
        }
    }

    @Override
    public void abandon() {
        guard.revoke();
    }

    @Override
    public void close() {
        guard.revoke();
        if (!ended) {
            rollback();
        }
    }
}
