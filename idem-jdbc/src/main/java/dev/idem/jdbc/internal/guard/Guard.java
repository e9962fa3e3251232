package dev.idem.jdbc.internal.guard;

import dev.idem.jdbc.internal.sql.Threads;
import dev.idem.jdbc.internal.sql.Transactions;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Stands between a handler and the connection of its transaction. Statements, result sets and metadata that are reached
 * through it are guarded too; what still leads around it (the result set of an SQL array, say) is caught by the confirm
 * before the commit. Each call holds a lock while it runs, so that after
 * {@link #revoke} no call of a stray thread can still be on its way into the next message's transaction.
 */
public final class Guard {
    /** Looked up once: a proxy is made for each connection, statement and result of each message. */
    private static final ClassValue<Constructor<?>> PROXIES = new ClassValue<>() {
        @Override
        protected Constructor<?> computeValue(Class<?> type) {
            Object any = Proxy.newProxyInstance(
                    Guard.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> null);
            try {
                return any.getClass().getConstructor(InvocationHandler.class);
            } catch (NoSuchMethodException impossible) {
                throw new LinkageError("every proxy class has this constructor", impossible);
            }
        }
    };

    /** Errors that a handler goes on after are many; the one that ends it is among the last. */
    private static final int REMEMBERED = 16;

    private final Connection real;
    private final SqlText sqlText;
    private final @Nullable UnitSavepoint savepoint;
    private final Runnable unbind;
    private final ReentrantLock calls = new ReentrantLock();
    private final RunningStatement running = new RunningStatement();
    private volatile boolean revoked;
    private volatile boolean used;
    private volatile @Nullable SQLException failed;
    private volatile List<SQLException> thrown = List.of();
    private volatile @Nullable SQLException condemned;
    private volatile @Nullable Connection handed;
    private volatile @Nullable Connection sameSession;
    private final AtomicReference<@Nullable LibraryBoundary> inside = new AtomicReference<>();

    /** On the calling thread, until it is revoked, the data source of the store hands out this transaction. */
    public Guard(Connection real, SqlText sqlText, HandlerConnections handlers) {
        this(real, sqlText, handlers, null);
    }

    /** @param savepoint to be set before the first statement, if the unit can be undone alone */
    public Guard(Connection real, SqlText sqlText, HandlerConnections handlers, @Nullable UnitSavepoint savepoint) {
        this.real = real;
        this.sqlText = sqlText;
        this.savepoint = savepoint;
        this.unbind = handlers.bind(this);
    }

    /** The connection as a handler sees it, always the same: ending the transaction is refused. */
    public Connection connection() {
        Connection mine = handed;
        if (mine == null) {
            mine = proxy(Connection.class, new GuardedConnection(this, real, new HandlerBoundary()));
            handed = mine;
        }
        return mine;
    }

    /** The same transaction for libraries with transactions of their own, which become part of it. */
    public DataSource dataSource() {
        return new UnitDataSource(
                () -> proxy(Connection.class, new GuardedConnection(this, real, new LibraryBoundary(this))));
    }

    public boolean used() {
        return used;
    }

    void markUsed() {
        used = true;
    }

    /** Refuses what would end the transaction; true when the text is surely one statement. */
    public boolean check(String sql) throws SQLException {
        return sqlText.refuseCommitting(sql);
    }

    /** From now on this transaction can only be rolled back. Waits its turn, so that {@link #quiet} waits for it. */
    void condemn(String deed) {
        calls.lock();
        try {
            if (condemned == null) {
                condemned = new SQLException(deed + " here");
            }
        } finally {
            calls.unlock();
        }
    }

    /**
     * A library begins a transaction on one of its connections, or goes on with it. A second one at the same time would
     * share the fate of the first, which nobody who asks for a second one expects.
     */
    void begin(LibraryBoundary connection) throws SQLException {
        if (inside.get() != connection && !inside.compareAndSet(null, connection)) {
            throw refused(
                    "a second transaction beside one that is open (REQUIRES_NEW, say)",
                    "All connections of a handler are one transaction, Idem's, so it could not be committed or rolled back"
                            + " on its own. Join the open one (REQUIRED), use a savepoint (NESTED), or do that work outside"
                            + " of the handler: publish it, or use a data source that is not Idem's");
        }
    }

    /** The library's transaction on this connection has ended, as far as the library is concerned. */
    void end(LibraryBoundary connection) {
        inside.compareAndSet(connection, null);
    }

    /**
     * The handler has returned, and what a library has begun and sent is neither committed nor rolled back. Its owner may
     * still roll back, or write more, outside of the handler; on a connection of a pool it would not be committed either.
     */
    public void condemnWhatIsOpen() {
        LibraryBoundary open = inside.get();
        if (open != null && open.isPending()) {
            condemn("The handler returned, and a library's transaction was open");
        }
    }

    /** What it stands before. */
    Connection real() {
        return real;
    }

    /** Whether another connection was found to be the session of this one. */
    boolean isKnownOn(Connection connection) {
        return sameSession == connection;
    }

    void knowOn(Connection connection) {
        sameSession = connection;
    }

    /** Where a library rolled back, if one did. */
    @Nullable
    public SQLException condemned() {
        return condemned;
    }

    /** Refuses statements that could not be committed any more, and would see what was meant to be undone. */
    public void checkUsable() throws SQLException {
        SQLException where = condemned;
        if (where != null) {
            SQLException refused = refused(
                    "to go on after a rollback",
                    "The whole transaction can only be rolled back: let the exception out of the handler");
            refused.initCause(where);
            throw refused;
        }
    }

    public boolean isRevoked() {
        return revoked;
    }

    /** No call gets through any more. From another thread than the handler's, the thread stays bound until its own turn. */
    public void revoke() {
        revoked = true;
        unbind.run();
    }

    /** Whether a call is on its way this moment. */
    public boolean isInCall() {
        return calls.isLocked();
    }

    /** Ends in the server what the handler waits for, if it does; for use before the connection is aborted. */
    public void cancelRunning() {
        running.cancel();
    }

    /**
     * Waits for a call that is still running, and for a cancellation that is on its way; false when one of them does not
     * end, and the connection must be torn down.
     */
    public boolean quiet(Duration limit) {
        return Threads.isFree(calls, limit) && Threads.isFree(running.cancelling(), limit);
    }

    /** The savepoint that the next statement needs, if it needs one. */
    @Nullable
    UnitSavepoint pendingSavepoint() {
        return savepoint != null && savepoint.isMissing() ? savepoint : null;
    }

    /** What a statement failed with last, if one did: the handler may have swallowed it. */
    @Nullable
    public SQLException failed() {
        return failed;
    }

    /** Passes one call on, if the handler still has the connection. */
    @Nullable
    Object call(Object target, Method method, Object @Nullable [] args) throws Throwable {
        return call(() -> pass(target, method, args));
    }

    /** A call that reaches the database, and so needs the savepoint before it. */
    @Nullable
    Object execute(Object target, Method method, Object @Nullable [] args) throws Throwable {
        return call(() -> {
            UnitSavepoint first = pendingSavepoint();
            if (first != null) {
                first.set(real);
            }
            running.begins(target instanceof Statement statement ? statement : null);
            try {
                return pass(target, method, args);
            } finally {
                running.ends();
            }
        });
    }

    /** Sends a statement that is not the handler's as it stands, while the handler's time still runs. */
    public void send(Statement statement, Transactions.Call call) throws SQLException {
        calls.lock();
        try {
            running.send(statement, call);
        } catch (SQLException failure) {
            remember(failure);
            throw failure;
        } finally {
            calls.unlock();
        }
    }

    /** Under the lock of the calls. */
    private void remember(SQLException failure) {
        List<SQLException> last =
                new ArrayList<>(thrown.subList(Math.max(0, thrown.size() + 1 - REMEMBERED), thrown.size()));
        last.add(failure);
        thrown = List.copyOf(last);
    }

    /** Whether this connection, and no other one that the handler uses, has thrown it. */
    public boolean hasThrown(SQLException failure) {
        return thrown.stream().anyMatch(one -> one == failure);
    }

    /** Does not wait for the call that it is to end. */
    @Nullable
    Object cancel(Object target, Method method, Object @Nullable [] args) throws SQLException {
        running.cancelling().lock();
        try {
            if (revoked) {
                throw revokedError();
            }
            return pass(target, method, args);
        } finally {
            running.cancelling().unlock();
        }
    }

    /** Closing is never refused, so that a statement that took effect is not reported as one that did not. */
    @Nullable
    Object close(Object target, Method method, Object @Nullable [] args) throws Throwable {
        return call(() -> revoked ? null : pass(target, method, args), false);
    }

    @Nullable
    Object call(Call call) throws Throwable {
        return call(call, true);
    }

    private @Nullable Object call(Call call, boolean refusedAfterwards) throws Throwable {
        calls.lock();
        try {
            if (revoked && refusedAfterwards) {
                throw revokedError();
            }
            return call.run();
        } catch (SQLException failure) {
            failed = failure;
            remember(failure);
            throw failure;
        } finally {
            calls.unlock();
        }
    }

    @Nullable
    Object pass(Object target, Method method, Object @Nullable [] args) throws SQLException {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException failure) {
            throw Guard.<RuntimeException>asThrown(failure.getTargetException());
        } catch (IllegalAccessException impossible) {
            throw new LinkageError(method + " is not accessible", impossible);
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <X extends Throwable> X asThrown(Throwable failure) throws X {
        throw (X) failure;
    }

    public static SQLException revokedError() {
        return new SQLException(
                "This transaction has ended: the handler has returned or timed out. Work that goes on in another thread"
                        + " must end before the handler returns",
                "25000");
    }

    static SQLException refused(String what, String instead) {
        return new SQLException("Refused: " + what + " inside a handler. " + instead, "25000");
    }

    /** Something to do while no other call runs. */
    @FunctionalInterface
    interface Call {
        @Nullable
        Object run() throws SQLException;
    }

    public static <T> T proxy(Class<T> type, InvocationHandler handler) {
        try {
            return type.cast(PROXIES.get(type).newInstance(handler));
        } catch (ReflectiveOperationException impossible) {
            throw new LinkageError("a proxy of " + type + " cannot be made", impossible);
        }
    }
}
