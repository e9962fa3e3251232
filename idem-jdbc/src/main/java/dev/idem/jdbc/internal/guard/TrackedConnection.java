package dev.idem.jdbc.internal.guard;

import dev.idem.jdbc.internal.sql.StoreLog;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * A connection of the store's data source outside of any handler: an ordinary one, but it is known which thread holds a
 * transaction open on it, and a message that joined it and failed can forbid its commit. It is held by the thread that used
 * it last, and by none once it is closed, on whatever thread.
 */
final class TrackedConnection implements InvocationHandler, Condemnable {
    private static final Logger log = StoreLog.LOG;

    private final Connection real;
    private final ThreadTransactions threads;
    private final Check check;
    private volatile @Nullable Thread holder;
    private volatile boolean ended;
    private volatile boolean closed;
    private volatile boolean condemned;

    TrackedConnection(Connection real, ThreadTransactions threads, Check check) {
        this.real = real;
        this.threads = threads;
        this.check = check;
        hold();
    }

    /** Whether the thread has a transaction open on it: one that has just begun counts, one that has just ended does not. */
    boolean isOpenOn(Thread thread) {
        if (holder != thread || ended || closed) {
            return false;
        }
        try {
            return !real.isClosed() && !real.getAutoCommit();
        } catch (SQLException | RuntimeException unusable) {
            return false;
        }
    }

    /** Whether the thread still has anything to do with it. */
    boolean isHeldBy(Thread thread) {
        return holder == thread && !closed;
    }

    @Override
    public void condemn() {
        condemned = true;
    }

    @Override
    public Connection below() {
        return real;
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) throws Throwable {
        return switch (method.getName()) {
            case "equals" -> args != null && proxy == args[0];
            case "hashCode" -> System.identityHashCode(proxy);
            case "toString" -> "Connection of the store's data source on " + real;
            case "unwrap" -> unwrap(proxy, args);
            case "isWrapperFor" ->
                args != null
                        && args[0] instanceof Class<?> type
                        && (type.isInstance(proxy) || type == Condemnable.class || real.isWrapperFor(type));
            case "close", "abort" -> close(method, args);
            case "isClosed" -> closed || real.isClosed();
            case "isValid" -> !closed && Boolean.TRUE.equals(pass(method, args));
            default -> open(proxy, method, args);
        };
    }

    /** Pools may hand out the same object again, so one that was closed is somebody else's. */
    private @Nullable Object open(Object proxy, Method method, Object @Nullable [] args) throws Throwable {
        refuseIfClosed();
        return switch (method.getName()) {
            case "commit" -> commit(method, args);
            case "rollback" -> rollback(method, args);
            case "setAutoCommit" -> setAutoCommit(method, args);
            case "createStatement", "prepareStatement", "prepareCall" -> statement(proxy, work(method, args));
            case "setSavepoint" -> work(method, args);
            default -> pass(method, args);
        };
    }

    private Object unwrap(Object proxy, Object @Nullable [] args) throws SQLException {
        if (args != null && args[0] instanceof Class<?> type) {
            return type == Condemnable.class ? this : type.isInstance(proxy) ? proxy : real.unwrap(type);
        }
        throw new SQLException("Not a wrapper for nothing");
    }

    private @Nullable Object work(Method method, Object @Nullable [] args) throws Throwable {
        return work(real, method, args);
    }

    private @Nullable Object work(@Nullable Object target, Method method, Object @Nullable [] args) throws Throwable {
        refuseIfClosed();
        refuseIfCondemned();
        check.beforeUse(real);
        hold();
        ended = false;
        return pass(target, method, args);
    }

    /** Executing it again after a commit begins another transaction. */
    private Object statement(Object proxy, @Nullable Object real) {
        Class<? extends Statement> type = real instanceof CallableStatement
                ? CallableStatement.class
                : real instanceof PreparedStatement ? PreparedStatement.class : Statement.class;
        return Guard.proxy(type, (statement, method, args) -> switch (method.getName()) {
            case "equals" -> args != null && statement == args[0];
            case "hashCode" -> System.identityHashCode(statement);
            case "getConnection" -> proxy;
            case "execute",
                    "executeQuery",
                    "executeUpdate",
                    "executeBatch",
                    "executeLargeUpdate",
                    "executeLargeBatch" -> work(real, method, args);
            default -> pass(real, method, args);
        });
    }

    private @Nullable Object commit(Method method, Object @Nullable [] args) throws Throwable {
        refuseIfCondemned();
        Object answer = pass(method, args);
        ended = true;
        return answer;
    }

    private @Nullable Object rollback(Method method, Object @Nullable [] args) throws Throwable {
        Object answer = pass(method, args);
        if (args == null) { // else to a savepoint
            ended = true;
            condemned = false;
        }
        return answer;
    }

    /** Switching it on commits, as JDBC says. */
    private @Nullable Object setAutoCommit(Method method, Object @Nullable [] args) throws Throwable {
        boolean on = args != null && Boolean.TRUE.equals(args[0]);
        boolean committing = condemned && on;
        if (committing) {
            real.rollback();
        }
        if (!on) {
            check.beforeUse(real);
        }
        hold();
        ended = false;
        pass(method, args);
        if (committing) {
            refuseIfCondemned();
        }
        return null;
    }

    private @Nullable Object close(Method method, Object @Nullable [] args) throws Throwable {
        if (closed) {
            return null;
        }
        if (condemned) {
            try {
                real.rollback(); // a pool may commit what is left
            } catch (SQLException | RuntimeException failure) {
                log.debug("A connection could not be rolled back before it is closed", failure);
            }
        }
        closed = true;
        return pass(method, args);
    }

    private void refuseIfClosed() throws SQLException {
        if (closed) {
            throw new SQLException("This connection is closed", "08003");
        }
    }

    private void refuseIfCondemned() throws SQLException {
        if (condemned) {
            throw new SQLException(
                    "Refused: a message that had joined this transaction failed, so it can only be rolled back. Call"
                            + " rollback() and deliver the message again",
                    "25000");
        }
    }

    private void hold() {
        Thread thread = Thread.currentThread();
        if (holder != thread) {
            holder = thread;
            threads.holds(this);
        }
    }

    private @Nullable Object pass(Method method, Object @Nullable [] args) throws Throwable {
        return pass(real, method, args);
    }

    /** Whether the calling thread may use it at this moment. */
    @FunctionalInterface
    interface Check {
        void beforeUse(Connection real) throws SQLException;
    }

    private static @Nullable Object pass(@Nullable Object target, Method method, Object @Nullable [] args)
            throws Throwable {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException failure) {
            throw failure.getTargetException();
        }
    }
}
