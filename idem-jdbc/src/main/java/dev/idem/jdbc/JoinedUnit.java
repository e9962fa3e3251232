package dev.idem.jdbc;

import dev.idem.BrokenTransactionException;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import dev.idem.spi.Unit;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A unit inside somebody else's transaction, from a savepoint on. It never commits. */
final class JoinedUnit implements Unit {
    private static final Duration STRAY_CALL_LIMIT = Duration.ofSeconds(5);

    private final Connection outer;
    private final Savepoint savepoint;
    private final Markers markers;
    private final SqlFaults faults;
    private final int consumer;
    private final MarkerKey key;
    private final ClaimRow claimed;
    private final Guard guard;
    private final Runnable onRevoke;
    private boolean released;

    JoinedUnit(
            Connection outer,
            Savepoint savepoint,
            Markers markers,
            SqlFaults faults,
            int consumer,
            MarkerKey key,
            ClaimRow claimed,
            Guard guard,
            Runnable onRevoke) {
        this.outer = outer;
        this.savepoint = savepoint;
        this.markers = markers;
        this.faults = faults;
        this.consumer = consumer;
        this.key = key;
        this.claimed = claimed;
        this.guard = guard;
        this.onRevoke = onRevoke;
    }

    @Override
    public String claimId() {
        return claimed.claimId();
    }

    @Override
    public Connection connection() {
        return guard.connection();
    }

    @Override
    public DataSource dataSource() {
        return guard.dataSource();
    }

    @Override
    public boolean used() {
        return guard.used();
    }

    /**
     * Takes the connection away and looks at what the handler left. The owner may commit without asking, and its commit
     * may look like success on a transaction that is broken, so this cannot wait for the confirm.
     */
    @Override
    public void revoke() {
        takeAway();
        SQLException where = guard.condemned();
        if (where != null) {
            throw rolledBackInside(key, where);
        }
        try {
            if (!markers.confirm(outer, consumer, key, claimed)) {
                throw broken(null);
            }
        } catch (SQLException failure) {
            throw broken(failure);
        }
    }

    private void takeAway() {
        guard.revoke();
        onRevoke.run();
        if (!guard.quiet(STRAY_CALL_LIMIT)) {
            throw new BrokenTransactionException(
                    "A thread of the handler of " + key + " is still using the transaction after the handler returned."
                            + " Roll the outer transaction back",
                    false,
                    null);
        }
    }

    /** Confirms only, and as often as asked; the owner of the transaction commits. */
    @Override
    public void commit(@Nullable StoredResult result) {
        try {
            if (!released) {
                outer.releaseSavepoint(savepoint); // fails on MariaDB if the transaction was replaced by another one
                released = true;
            }
            if (!markers.confirm(outer, consumer, key, claimed)) { // the last word: H2 releases anything
                throw broken(null);
            }
        } catch (SQLException failure) {
            throw broken(failure);
        }
    }

    static BrokenTransactionException rolledBackInside(MarkerKey key, SQLException where) {
        return new BrokenTransactionException(
                "Inside the handler of " + key
                        + " a library rolled back, or closed a connection without commit, and the"
                        + " handler returned as if nothing had happened: everything was undone. Let the exception out of"
                        + " the handler; the cause shows where it was",
                false,
                where);
    }

    private BrokenTransactionException broken(@Nullable SQLException evidence) {
        return new BrokenTransactionException(
                "The marker of " + key
                        + " is not in the outer transaction any more. Roll it back; the message is not done",
                false,
                evidence);
    }

    @Override
    public void rollback() {
        takeAway();
        try {
            outer.rollback(savepoint);
        } catch (SQLException failure) {
            throw leftBehind()
                    ? new BrokenTransactionException(
                            "The outer transaction was committed behind the back of the handler of " + key
                                    + " (COMMIT, DDL"
                                    + " or a procedure): its marker and a part of its work stay. Complete the work by"
                                    + " hand; or undo it, delete the marker and deliver the message again",
                            true,
                            failure)
                    : faults.explained("undo, inside an outer transaction that must now be rolled back,", key, failure);
        }
    }

    /** Without its savepoint this is not the transaction of the claim; the marker tells whether that was committed. */
    private boolean leftBehind() {
        try {
            Optional<ClaimRow> found = markers.read(outer, consumer, key);
            return found.isPresent() && found.get().claimId().equals(claimed.claimId());
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
        onRevoke.run();
    }
}
