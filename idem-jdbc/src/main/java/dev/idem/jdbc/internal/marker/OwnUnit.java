package dev.idem.jdbc.internal.marker;

import dev.idem.BrokenTransactionException;
import dev.idem.CommitRefusedException;
import dev.idem.jdbc.internal.guard.Guard;
import dev.idem.jdbc.internal.guard.OwnTransaction;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.StoreLog;
import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.StoredResult;
import dev.idem.spi.Streams;
import dev.idem.spi.TransientStoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * A unit in a transaction of its own. It ends with a commit that was proven right, or with a rollback that was proven
 * complete; a connection about which neither is certain is torn down and never goes back to the pool as it is.
 */
final class OwnUnit extends GuardedUnit {
    private static final Logger log = StoreLog.LOG;

    private final OwnTransaction transaction;
    private final ClaimedMarker marker;

    OwnUnit(OwnTransaction transaction, ClaimedMarker marker, BatchKit kit, Guard guard) {
        super(marker.key(), kit, guard);
        this.marker = marker;
        this.transaction = transaction;
    }

    @Override
    public Optional<Instant> horizon(Instant made) {
        return horizon(marker, transaction.connection(), made);
    }

    @Override
    public Streams streams() {
        return streams(marker, transaction::connection);
    }

    @Override
    public String claimId() {
        return marker.claimId();
    }

    @Override
    public void flush() throws SQLException {
        send(transaction.connection());
    }

    @Override
    public void revoke() {
        if (!takeAway()) {
            transaction.tearDown();
            throw strayThread();
        }
        SQLException where = guard.condemned();
        if (where != null) {
            transaction.rollBack();
            throw leftBehind() ? BrokenTransactionException.hiddenCommit(key, where) : rolledBackInside(where);
        }
    }

    @Override
    public void commit(@Nullable StoredResult result) {
        Connection connection = transaction.connection();
        if (result != null) {
            store(connection, result);
        }
        try {
            warn(marker.confirmAndCommit(connection));
            transaction.ended();
        } catch (SQLException failure) {
            throw commitFailure(failure);
        }
    }

    /** PostgreSQL commits in spite of a cancelled wait for its standby, and only warns. */
    private void warn(@Nullable SQLWarning warning) {
        if (warning != null && "01000".equals(warning.getSQLState())) {
            log.warn(
                    "{}: committed, but the server warns; it may not be on the standby, and a failover would lose it: {}",
                    key,
                    warning.getMessage());
        }
    }

    private void store(Connection connection, StoredResult result) {
        try {
            marker.store(connection, result);
        } catch (SQLException failure) {
            if (faults.isBroken(failure)) {
                throw broken(failure);
            }
            throw faults.isRefused(failure) && !faults.isTransient(failure)
                    ? refused("keep the result of", failure)
                    : faults.explained("store the result of", key, failure);
        }
    }

    private RuntimeException commitFailure(SQLException failure) {
        if (faults.isBroken(failure)) {
            return broken(failure);
        }
        if (faults.isRefused(failure)) {
            return faults.isTransient(failure)
                    ? new TransientStoreException("The database undid " + key + " at its commit", failure)
                    : refused("commit", failure);
        }
        boolean answered = faults.isAnswer(failure);
        if (answered) {
            transaction.rollBack();
        } else {
            transaction.tearDown();
        }
        return new CommitUnknownException(
                answered
                        ? "The database answered the commit of " + key + " with SQLState " + failure.getSQLState()
                        : "The answer to the commit of " + key + " was lost",
                failure,
                answered);
    }

    private CommitRefusedException refused(String what, SQLException failure) {
        return new CommitRefusedException(
                "The database refused to " + what + " " + key + " (SQLState " + failure.getSQLState()
                        + "): rolled back; " + SqlFaults.advice(failure),
                failure);
    }

    /** The marker is not in this transaction: say whether it was committed on its own, or is simply gone. */
    private BrokenTransactionException broken(SQLException evidence) {
        transaction.rollBack();
        return leftBehind()
                ? BrokenTransactionException.hiddenCommit(key, evidence)
                : new BrokenTransactionException(
                        "The handler of " + key + " swallowed an SQL error or rolled back: everything was undone. Let"
                                + " SQL errors pass, or use a savepoint",
                        false,
                        evidence);
    }

    @Override
    public void rollback() {
        if (!takeAway()) {
            transaction.tearDown();
            return;
        }
        transaction.rollBack();
        if (used() && leftBehind()) {
            throw BrokenTransactionException.hiddenCommit(key, null);
        }
    }

    /** After a rollback our marker must be gone. On a lost connection the next claim will tell. */
    private boolean leftBehind() {
        return transaction.lookAfterEnd(marker::isThere);
    }

    @Override
    public void abandon() {
        guard.revoke();
        guard.cancelRunning();
        transaction.tearDown();
    }

    @Override
    public void close() {
        guard.revoke();
        transaction.close();
    }
}
