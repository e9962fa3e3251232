package dev.idem.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A result set or the metadata: passes everything on, but leads back to the guarded owner. */
final class GuardedPart implements InvocationHandler {
    private final Guard guard;
    private final String wayBack;
    private final Object owner;
    private final Object real;

    GuardedPart(Guard guard, String wayBack, Object owner, Object real) {
        this.guard = guard;
        this.wayBack = wayBack;
        this.owner = owner;
        this.real = real;
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) throws Throwable {
        String name = method.getName();
        if (name.equals(wayBack)) {
            return owner;
        }
        return switch (name) {
            case "equals" -> args != null && proxy == args[0];
            case "hashCode" -> System.identityHashCode(proxy);
            case "toString" -> "Guarded " + real.getClass().getSimpleName();
            case "unwrap" -> throw new SQLException("Refused: unwrap() inside a handler", "25000");
            case "close" -> guard.isRevoked() ? null : guard.call(real, method, args);
            default -> guard.call(real, method, args);
        };
    }
}
