package dev.idem.jdbc;

import dev.idem.BrokenTransactionException;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import dev.idem.spi.Unit;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
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

    JoinedUnit(
            Connection outer,
            Savepoint savepoint,
            Markers markers,
            SqlFaults faults,
            int consumer,
            MarkerKey key,
            ClaimRow claimed,
            Guard guard) {
        this.outer = outer;
        this.savepoint = savepoint;
        this.markers = markers;
        this.faults = faults;
        this.consumer = consumer;
        this.key = key;
        this.claimed = claimed;
        this.guard = guard;
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

    @Override
    public void revoke() {
        guard.revoke();
        if (!guard.quiet(STRAY_CALL_LIMIT)) {
            throw new BrokenTransactionException(
                    "A thread of the handler of " + key + " is still using the transaction after the handler returned."
                            + " Roll the outer transaction back",
                    false,
                    null);
        }
    }

    /** Confirms only; the owner of the transaction commits. */
    @Override
    public void commit(@Nullable StoredResult result) {
        try {
            outer.releaseSavepoint(savepoint); // fails on MariaDB if the transaction was replaced by another one
            if (!markers.confirm(outer, consumer, key, claimed)) { // the last word: H2 releases anything
                throw broken(null);
            }
        } catch (SQLException failure) {
            throw broken(failure);
        }
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
        guard.revoke();
        try {
            outer.rollback(savepoint);
        } catch (SQLException failure) {
            throw faults.explained("undo, inside an outer transaction that must now be rolled back,", key, failure);
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
