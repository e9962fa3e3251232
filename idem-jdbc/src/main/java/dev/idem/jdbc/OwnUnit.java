package dev.idem.jdbc;

import dev.idem.BrokenTransactionException;
import dev.idem.CommitRefusedException;
import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import dev.idem.spi.TransientStoreException;
import dev.idem.spi.Unit;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A unit in a transaction of its own. It ends with a commit that was proven right, or with a rollback that was proven
 * complete; a connection about which neither is certain is torn down and never goes back to the pool as it is.
 */
final class OwnUnit implements Unit {
    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);
    private static final Duration STRAY_CALL_LIMIT = Duration.ofSeconds(5);

    private final OwnTransaction transaction;
    private final Markers markers;
    private final SqlFaults faults;
    private final int consumer;
    private final MarkerKey key;
    private final ClaimRow claimed;
    private final Guard guard;
    private final Runnable onRevoke;

    OwnUnit(
            OwnTransaction transaction,
            Markers markers,
            SqlFaults faults,
            int consumer,
            MarkerKey key,
            ClaimRow claimed,
            Guard guard,
            Runnable onRevoke) {
        this.transaction = transaction;
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

    @Override
    public void revoke() {
        guard.revoke();
        onRevoke.run();
        if (!guard.quiet(STRAY_CALL_LIMIT)) {
            transaction.tearDown();
            throw new BrokenTransactionException(
                    "A thread of the handler of " + key + " is still using its transaction after the handler returned:"
                            + " rolled back. Wait for it inside the handler",
                    false,
                    null);
        }
        SQLException where = guard.condemned();
        if (where != null) {
            transaction.rollBack();
            throw leftBehind() ? leftBehindError(where) : JoinedUnit.rolledBackInside(key, where);
        }
    }

    @Override
    public void commit(@Nullable StoredResult result) {
        Connection connection = transaction.connection();
        if (result != null) {
            store(connection, result);
        }
        try {
            if (markers.commitsWithConfirm()) {
                warn(markers.confirmAndCommit(connection, consumer, key, claimed));
            } else if (confirmed(connection)) {
                connection.commit();
            } else {
                throw broken(null);
            }
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
            markers.storeResult(connection, consumer, key, result);
        } catch (SQLException failure) {
            throw faults.isBroken(failure) ? broken(failure) : faults.explained("store the result of", key, failure);
        }
    }

    /** A confirm that fails has not committed anything, whatever the reason. */
    private boolean confirmed(Connection connection) {
        try {
            return markers.confirm(connection, consumer, key, claimed);
        } catch (SQLException failure) {
            throw faults.isBroken(failure) ? broken(failure) : faults.explained("confirm", key, failure);
        }
    }

    private RuntimeException commitFailure(SQLException failure) {
        if (faults.isBroken(failure)) {
            return broken(failure);
        }
        if (faults.isRefused(failure) && !SqlFaults.isConnectionLost(failure)) {
            return faults.isTransient(failure)
                    ? new TransientStoreException("The database undid " + key + " at its commit", failure)
                    : new CommitRefusedException(
                            "The database refused to commit " + key + " (SQLState " + failure.getSQLState()
                                    + "): rolled back; " + SqlFaults.advice(failure),
                            failure);
        }
        transaction.tearDown();
        return new CommitUnknownException("The answer to the commit of " + key + " was lost", failure);
    }

    /** The marker is not in this transaction: say whether it was committed on its own, or is simply gone. */
    private BrokenTransactionException broken(@Nullable SQLException evidence) {
        transaction.rollBack();
        return leftBehind()
                ? leftBehindError(evidence)
                : new BrokenTransactionException(
                        "The handler of " + key + " swallowed an SQL error or rolled back: everything was undone. Let"
                                + " SQL errors pass, or use a savepoint",
                        false,
                        evidence);
    }

    @Override
    public void rollback() {
        guard.revoke();
        onRevoke.run();
        if (!guard.quiet(STRAY_CALL_LIMIT)) {
            transaction.tearDown();
            return;
        }
        transaction.rollBack();
        if (guard.used() && leftBehind()) {
            throw leftBehindError(null);
        }
    }

    /** After a rollback our marker must be gone; another delivery's marker is none of our business. */
    private boolean leftBehind() {
        if (transaction.isTornDown()) {
            return false; // the next claim will tell
        }
        try {
            Optional<ClaimRow> found = markers.read(transaction.connection(), consumer, key);
            transaction.rollBack();
            return found.isPresent() && found.get().claimId().equals(claimed.claimId());
        } catch (SQLException failure) {
            transaction.tearDown();
            return false;
        }
    }

    private BrokenTransactionException leftBehindError(@Nullable SQLException evidence) {
        return new BrokenTransactionException(
                "The handler of " + key + " committed its transaction behind Idem's back (COMMIT, DDL or a procedure):"
                        + " its marker and a part of its work stay. Complete the work by hand; or undo it, delete the"
                        + " marker and deliver the message again",
                true,
                evidence);
    }

    @Override
    public void abandon() {
        guard.revoke();
        transaction.tearDown();
    }

    @Override
    public void close() {
        guard.revoke();
        onRevoke.run();
        transaction.close();
    }
}
