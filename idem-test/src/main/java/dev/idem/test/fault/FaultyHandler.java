package dev.idem.test.fault;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Stands before a connection, or before an object created from one, so that no path leads around the faults. */
final class FaultyHandler implements InvocationHandler {
    private static final Set<Class<?>> WRAPPED = Set.of(
            Statement.class, PreparedStatement.class, CallableStatement.class, ResultSet.class, DatabaseMetaData.class);

    private static final Set<String> COUNTED_ON_CONNECTION = Set.of(
            "prepareStatement",
            "prepareCall",
            "commit",
            "rollback",
            "setSavepoint",
            "releaseSavepoint",
            "setAutoCommit",
            "setTransactionIsolation",
            "setReadOnly",
            "setSchema",
            "setCatalog");

    private final FaultySession session;
    private final Object target;
    private final @Nullable Object parent;
    private final @Nullable String sql;
    private volatile String batch = "";

    FaultyHandler(FaultySession session, Object target, @Nullable Object parent, @Nullable String sql) {
        this.session = session;
        this.target = target;
        this.parent = parent;
        this.sql = sql;
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        Object[] args = arguments == null ? new Object[0] : arguments;
        String name = method.getName();
        if (method.getDeclaringClass() == Object.class) {
            return switch (name) {
                case "equals" -> proxy == args[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> "Faulty[" + target + "]";
            };
        }
        if (target instanceof Connection && name.equals("close")) {
            session.close();
            return null;
        }
        if (session.lost()) {
            return afterLoss(name);
        }
        if (name.equals("unwrap") && ((Class<?>) args[0]).isInstance(proxy)) {
            return proxy;
        }
        if (name.equals("isWrapperFor") && ((Class<?>) args[0]).isInstance(proxy)) {
            return true;
        }
        if (name.equals("getConnection")) {
            return session.connection();
        }
        if (name.equals("getStatement") && parent instanceof Statement) {
            return parent;
        }
        rememberBatch(name, args);
        if (counts(name)) {
            String call = describe(name, args);
            if (name.endsWith("Batch")) {
                batch = "";
            }
            return session.counted(call, () -> call(proxy, method, args));
        }
        return call(proxy, method, args);
    }

    private static @Nullable Object afterLoss(String name) throws SQLException {
        return switch (name) {
            case "close", "abort" -> null;
            case "isClosed" -> true;
            case "isValid" -> false;
            default -> throw new SQLException("Connection lost earlier, by an injected fault", "08003");
        };
    }

    private boolean counts(String name) {
        return target instanceof Statement
                ? name.startsWith("execute")
                : target instanceof Connection && COUNTED_ON_CONNECTION.contains(name);
    }

    private void rememberBatch(String name, Object[] args) {
        if (name.equals("addBatch") && args.length == 1) {
            batch = batch.isEmpty() ? String.valueOf(args[0]) : batch + "; " + args[0];
        } else if (name.equals("clearBatch")) {
            batch = "";
        }
    }

    private String describe(String name, Object[] args) {
        Object first = args.length == 0 ? null : args[0];
        if (target instanceof Connection) {
            return first == null ? name : name + " " + (first instanceof Savepoint ? "savepoint" : first);
        }
        return name + " " + (first instanceof String text ? text : sql != null ? sql : batch);
    }

    private @Nullable Object call(Object proxy, Method method, Object[] args) throws Throwable {
        Object result = invoke(method, args);
        Class<?> type = method.getReturnType();
        if (result == null || !WRAPPED.contains(type)) {
            return result;
        }
        boolean prepared = PreparedStatement.class.isAssignableFrom(type);
        return session.wrap(type, result, proxy, prepared ? (String) args[0] : null);
    }

    private @Nullable Object invoke(Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }
}
