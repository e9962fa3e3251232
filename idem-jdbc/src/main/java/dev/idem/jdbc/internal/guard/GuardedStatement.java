package dev.idem.jdbc.internal.guard;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A handler's statement: knows that the transaction is used, and refuses text that would end it. */
final class GuardedStatement implements InvocationHandler {
    private final Guard guard;
    private final Boundary boundary;
    private final Object connection;
    private final Object real;

    GuardedStatement(Guard guard, Boundary boundary, Object connection, Object real) {
        this.guard = guard;
        this.boundary = boundary;
        this.connection = connection;
        this.real = real;
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) throws Throwable {
        String name = method.getName();
        boolean executes = name.startsWith("execute");
        if (executes || name.equals("addBatch")) {
            sending();
            if (args != null && args.length > 0 && args[0] instanceof String sql) {
                guard.check(sql);
            }
        }
        return switch (name) {
            case "equals" -> args != null && proxy == args[0];
            case "hashCode" -> System.identityHashCode(proxy);
            case "toString" -> "Guarded " + real.getClass().getSimpleName();
            case "getConnection" -> connection;
            case "unwrap" ->
                throw Guard.refused("unwrap()", "The driver's own object could end the transaction unseen");
            case "close" -> guard.close(real, method, args);
            case "cancel" -> guard.cancel(real, method, args);
            default -> guarded(proxy, executes ? guard.execute(real, method, args) : guard.call(real, method, args));
        };
    }

    /** Notes that the transaction is used, if it still can be. */
    void sending() throws SQLException {
        guard.checkUsable();
        guard.markUsed();
        boundary.executed();
    }

    /** The same for another statement of the driver's. */
    GuardedStatement of(Object another) {
        return new GuardedStatement(guard, boundary, connection, another);
    }

    @Nullable
    Object guarded(Object proxy, @Nullable Object answer) {
        return answer instanceof ResultSet rows
                ? Guard.proxy(ResultSet.class, new GuardedPart(guard, "getStatement", proxy, rows))
                : answer;
    }
}
