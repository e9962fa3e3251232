package dev.idem.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Stands between a handler and the connection of its transaction. Everything that is reached through the connection is
 * guarded too, so no statement or result set leads around it. Each call holds a lock while it runs, so that after {@link
 * #revoke} no call of a stray thread can still be on its way into the next message's transaction.
 */
final class Guard {
    private final Connection real;
    private final SqlText sqlText;
    private final ReentrantLock calls = new ReentrantLock();
    private volatile boolean revoked;
    private volatile boolean used;
    private volatile @Nullable SQLException condemned;

    Guard(Connection real, SqlText sqlText) {
        this.real = real;
        this.sqlText = sqlText;
    }

    /** The connection as a handler sees it: ending the transaction is refused. */
    Connection connection() {
        return proxy(Connection.class, new GuardedConnection(this, real, new HandlerBoundary()));
    }

    /** The same transaction for libraries with transactions of their own, which become part of it. */
    DataSource dataSource() {
        return new UnitDataSource(
                () -> proxy(Connection.class, new GuardedConnection(this, real, new LibraryBoundary(this))));
    }

    boolean used() {
        return used;
    }

    void markUsed() {
        used = true;
    }

    void check(String sql) throws SQLException {
        sqlText.refuseCommitting(sql);
    }

    /** From now on this transaction can only be rolled back. Waits its turn, so that {@link #quiet} waits for it. */
    void condemn(String deed) {
        calls.lock();
        try {
            if (condemned == null) {
                condemned = new SQLException("A library " + deed + " here");
            }
        } finally {
            calls.unlock();
        }
    }

    /** Where a library rolled back, if one did. */
    @Nullable
    SQLException condemned() {
        return condemned;
    }

    /** Refuses statements that could not be committed any more, and would see what was meant to be undone. */
    void checkUsable() throws SQLException {
        SQLException where = condemned;
        if (where != null) {
            SQLException refused = refused(
                    "to go on after a rollback",
                    "The whole transaction can only be rolled back: let the exception out of the handler");
            refused.initCause(where);
            throw refused;
        }
    }

    boolean isRevoked() {
        return revoked;
    }

    /** No call gets through any more. */
    void revoke() {
        revoked = true;
    }

    /** Waits for a call that is still running; false when it does not end, and the connection must be torn down. */
    boolean quiet(Duration limit) {
        try {
            if (!calls.tryLock() && !calls.tryLock(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                return false;
            }
            calls.unlock();
            return true;
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Passes one call on, if the handler still has the connection. */
    @Nullable
    Object call(Object target, Method method, Object @Nullable [] args) throws Throwable {
        calls.lock();
        try {
            if (revoked) {
                throw revokedError();
            }
            return method.invoke(target, args);
        } catch (InvocationTargetException failure) {
            throw failure.getTargetException();
        } finally {
            calls.unlock();
        }
    }

    static SQLException revokedError() {
        return new SQLException(
                "This transaction has ended: the handler has returned or timed out. Work that goes on in another thread"
                        + " must end before the handler returns",
                "25000");
    }

    static SQLException refused(String what, String instead) {
        return new SQLException("Refused: " + what + " inside a handler. " + instead, "25000");
    }

    static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(Guard.class.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
