package dev.idem.jdbc.internal.guard;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.SQLClientInfoException;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A handler's connection: everything but the end of the transaction, and but what would outlive it. */
final class GuardedConnection implements InvocationHandler, Condemnable {
    /** Settings that outlive the transaction on a pooled connection, and how to read them. */
    private static final Map<String, String> SESSION_STATE = Map.of(
            "setReadOnly", "isReadOnly",
            "setCatalog", "getCatalog",
            "setSchema", "getSchema",
            "setTransactionIsolation", "getTransactionIsolation",
            "setHoldability", "getHoldability");

    private final Guard guard;
    private final Connection real;
    private final Boundary boundary;

    GuardedConnection(Guard guard, Connection real, Boundary boundary) {
        this.guard = guard;
        this.real = real;
        this.boundary = boundary;
    }

    @Override
    public void condemn() {
        guard.condemn("A message that had joined this transaction failed");
    }

    @Override
    public Connection below() {
        return real;
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) throws Throwable {
        String name = method.getName();
        return switch (name) {
            case "equals" -> args != null && proxy == args[0];
            case "hashCode" -> System.identityHashCode(proxy);
            case "toString" -> "Transaction of a handler on " + real;
            case "isClosed" -> boundary.isClosed() || guard.isRevoked() || real.isClosed();
            case "close", "commit", "rollback", "getAutoCommit", "setAutoCommit" -> boundary(method, args);
            case "abort" -> throw Guard.refused("abort()", "Throw an exception: then Idem rolls back");
            case "unwrap" -> unwrap(proxy, args);
            case "isWrapperFor" ->
                args != null
                        && args[0] instanceof Class<?> type
                        && (type.isInstance(proxy) || type == Condemnable.class);
            case "setNetworkTimeout", "setTypeMap" ->
                throw Guard.refused(name + "()", "The setting would outlive the transaction");
            case "setClientInfo" -> // the one method that may throw nothing but this
                throw new SQLClientInfoException(
                        "Refused: setClientInfo() inside a handler. The setting would outlive the transaction",
                        Map.of());
            default -> SESSION_STATE.containsKey(name) ? keep(name, args) : pass(proxy, method, args);
        };
    }

    private @Nullable Object boundary(Method method, Object @Nullable [] args) throws Throwable {
        if (method.getName().equals("close")) {
            boundary.close();
            return null;
        }
        if (guard.isRevoked()) {
            throw Guard.revokedError();
        }
        refuseIfClosed();
        if (args != null && method.getName().equals("rollback")) {
            return guard.execute(real, method, args); // to a savepoint
        }
        switch (method.getName()) {
            case "commit" -> boundary.commit();
            case "rollback" -> boundary.rollback();
            case "setAutoCommit" -> boundary.autoCommit(args != null && Boolean.TRUE.equals(args[0]));
            default -> {
                return boundary.autoCommit();
            }
        }
        return null;
    }

    private void refuseIfClosed() throws SQLException {
        if (boundary.isClosed()) {
            throw new SQLException("This connection is closed", "08003");
        }
    }

    /** Libraries set what is already so; that may pass. */
    private @Nullable Object keep(String setter, Object @Nullable [] args) throws Throwable {
        Object now =
                guard.call(real, Connection.class.getMethod(Objects.requireNonNull(SESSION_STATE.get(setter))), null);
        if (args == null || !Objects.equals(now, args[0])) {
            throw Guard.refused(setter + "()", "The setting would outlive the transaction, or end it");
        }
        return null;
    }

    private Object unwrap(Object proxy, Object @Nullable [] args) throws SQLException {
        if (args != null && args[0] instanceof Class<?> type) {
            if (type.isInstance(proxy)) {
                return proxy;
            }
            if (type == Condemnable.class) {
                return this;
            }
        }
        throw Guard.refused("unwrap()", "The driver's own connection could end the transaction unseen");
    }

    private @Nullable Object pass(Object proxy, Method method, Object @Nullable [] args) throws Throwable {
        refuseIfClosed();
        boolean single = args != null
                && args.length > 0
                && args[0] instanceof String sql
                && method.getName().startsWith("prepare")
                && guard.check(sql);
        UnitSavepoint savepoint = guard.pendingSavepoint();
        // One that could end the transaction, and then fail, would leave nobody to say who did.
        if (single && savepoint != null && savepoint.isCarried() && isPlainPrepare(method)) {
            return carrying(proxy, savepoint, (String) Objects.requireNonNull(args)[0]);
        }
        Object answer = method.getName().equals("setSavepoint")
                ? guard.execute(real, method, args)
                : guard.call(real, method, args);
        if (answer instanceof CallableStatement statement) {
            return Guard.proxy(CallableStatement.class, new GuardedStatement(guard, boundary, proxy, statement));
        }
        if (answer instanceof PreparedStatement statement) {
            return Guard.proxy(PreparedStatement.class, new GuardedStatement(guard, boundary, proxy, statement));
        }
        if (answer instanceof Statement statement) {
            return Guard.proxy(Statement.class, new GuardedStatement(guard, boundary, proxy, statement));
        }
        if (answer instanceof DatabaseMetaData metaData) {
            return Guard.proxy(DatabaseMetaData.class, new GuardedPart(guard, "getConnection", proxy, metaData));
        }
        return answer;
    }

    private static boolean isPlainPrepare(Method method) {
        return method.getName().equals("prepareStatement") && method.getParameterCount() == 1;
    }

    private Object carrying(Object proxy, UnitSavepoint savepoint, String sql) throws Throwable {
        PreparedStatement carrier = (PreparedStatement)
                Objects.requireNonNull(guard.call(() -> real.prepareStatement(savepoint.prefix() + sql)));
        GuardedStatement guarded = new GuardedStatement(guard, boundary, proxy, carrier);
        return Guard.proxy(
                PreparedStatement.class,
                new CarryingStatement(guard, savepoint, carrier, guarded, () -> real.prepareStatement(sql)));
    }
}
