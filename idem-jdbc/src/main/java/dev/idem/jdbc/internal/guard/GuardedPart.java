package dev.idem.jdbc.internal.guard;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.sql.ResultSet;
import org.jspecify.annotations.Nullable;

/** A result set or the metadata: passes everything on, but leads back to the guarded owner, or to none. */
final class GuardedPart implements InvocationHandler {
    private final Guard guard;
    private final String wayBack;
    private final @Nullable Object owner;
    private final Object real;

    GuardedPart(Guard guard, String wayBack, @Nullable Object owner, Object real) {
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
            case "unwrap" ->
                throw Guard.refused("unwrap()", "The driver's own object could end the transaction unseen");
            case "close" -> guard.close(real, method, args);
            default -> guarded(guard.call(real, method, args));
        };
    }

    /** The metadata's result sets and those of a cursor have a statement of the driver's own, which nobody may see. */
    private @Nullable Object guarded(@Nullable Object answer) {
        return answer instanceof ResultSet rows
                ? Guard.proxy(ResultSet.class, new GuardedPart(guard, "getStatement", null, rows))
                : answer;
    }
}
