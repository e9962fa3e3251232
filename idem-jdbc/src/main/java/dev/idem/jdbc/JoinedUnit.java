package dev.idem.jdbc;

import dev.idem.BrokenTransactionException;
import dev.idem.spi.StoredResult;
import dev.idem.spi.Streams;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A unit inside somebody else's transaction, from a savepoint on. It never commits. */
final class JoinedUnit extends GuardedUnit {
    private final ClaimedMarker marker;
    private final Connection outer;
    private final Savepoint savepoint;
    private boolean released;

    JoinedUnit(Connection outer, Savepoint savepoint, ClaimedMarker marker, SqlFaults faults, Guard guard) {
        super(marker.key(), faults, guard);
        this.marker = marker;
        this.outer = outer;
        this.savepoint = savepoint;
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

    @Override
    public void flush() throws SQLException {
        send(outer);
    }

    /**
     * Takes the connection away and looks at what the handler left. The owner may commit without asking, and its commit
     * may look like success on a transaction that is broken, so this cannot wait for the confirm.
     */
    @Override
    public void revoke() {
        if (!takeAway()) {
            throw strayThread();
        }
        SQLException where = guard.condemned();
        if (where != null) {
            throw rolledBackInside(where);
        }
        confirm();
    }

    /** Confirms only, and as often as asked; the owner of the transaction commits. */
    @Override
    public void commit(@Nullable StoredResult result) {
        if (result != null) {
            throw new IllegalArgumentException("Results are not kept in a transaction of somebody else's");
        }
        try {
            if (!released) {
                outer.releaseSavepoint(savepoint); // fails on MariaDB if the transaction was replaced by another one
                released = true;
            }
        } catch (SQLException failure) {
            throw broken(failure);
        }
        confirm(); // the last word: H2 releases anything
    }

    private void confirm() {
        try {
            if (!marker.confirm(outer)) {
                throw broken(null);
            }
        } catch (SQLException failure) {
            throw broken(failure);
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
        if (!takeAway()) {
            throw strayThread();
        }
        try {
            outer.rollback(savepoint);
        } catch (SQLException failure) {
            throw leftBehind()
                    ? BrokenTransactionException.hiddenCommit(key, failure)
                    : faults.explained("undo, inside an outer transaction that must now be rolled back,", key, failure);
        }
    }

    /** When this is not the transaction of the claim any more, the marker tells whether that one was committed. */
    private boolean leftBehind() {
        try {
            return marker.isThere(outer);
        } catch (SQLException unusable) {
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
    }
}
