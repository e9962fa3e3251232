package dev.idem.jdbc.internal.guard;

import dev.idem.jdbc.internal.sql.StoreLog;
import dev.idem.spi.OuterTransactions;
import java.sql.Connection;
import java.sql.SQLException;
import org.slf4j.Logger;

/**
 * Makes somebody else's transaction one that can only be rolled back. JDBC has no word for that. A connection of ours can
 * refuse its commit, and a framework can refuse it for its own transactions. Any other connection is ended, so that its
 * owner's commit fails: to spoil the transaction is not enough, because PostgreSQL's driver then answers a commit that rolled
 * back as if it had committed, and no other database can be brought to refuse. Never throws.
 */
public record RollbackOnly(OuterTransactions frameworks) {
    private static final Logger log = StoreLog.LOG;

    /** @param reachable false when a call of another thread does not end, so that no statement can be sent */
    public void mark(Connection outer, boolean reachable) {
        if (!isOurs(outer) && !isOfAFramework(outer)) {
            end(outer, reachable);
        }
    }

    private static boolean isOurs(Connection outer) {
        Condemnable ours = Condemnable.of(outer);
        if (ours != null) {
            ours.condemn();
        }
        return ours != null;
    }

    private boolean isOfAFramework(Connection outer) {
        try {
            return frameworks.rollbackOnly(outer);
        } catch (RuntimeException failure) {
            log.warn("{} failed to mark a transaction as rollback-only; its connection is closed", frameworks, failure);
            return false;
        }
    }

    private static void end(Connection outer, boolean reachable) {
        try {
            if (outer.isClosed()) {
                return;
            }
            if (reachable) {
                outer.rollback(); // else the keys stay locked until the server has noticed
            }
        } catch (SQLException | RuntimeException failure) {
            log.debug("A transaction could not be rolled back before its connection is closed", failure);
        }
        try {
            outer.abort(Runnable::run);
        } catch (SQLException | RuntimeException | AbstractMethodError failure) {
            log.debug("A connection could not be aborted", failure);
        }
        try {
            if (!outer.isClosed()) { // H2 ignores abort
                outer.rollback();
                outer.close();
            }
        } catch (SQLException | RuntimeException failure) {
            log.debug("A connection could not be closed", failure);
        }
        log.warn(
                "Closed the connection of a transaction, because a message that had joined it failed and its owner must not"
                        + " commit. Connections of store.dataSource(), and frameworks that the store is told of, need not be closed");
    }
}
