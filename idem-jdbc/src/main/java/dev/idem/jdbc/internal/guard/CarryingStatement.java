package dev.idem.jdbc.internal.guard;

import java.io.InputStream;
import java.io.Reader;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A prepared statement that may become the first one of its unit, and then carries the unit's savepoint in front. Its
 * extra results are skipped. If another statement was first, or something is asked of it that a statement with a prefix
 * cannot do, it is prepared again without the prefix, and the parameters are set again.
 */
final class CarryingStatement implements InvocationHandler {
    private static final Set<String> EXECUTIONS =
            Set.of("execute", "executeQuery", "executeUpdate", "executeLargeUpdate");
    /** What needs no statement of the right text. */
    private static final Set<String> UNSENT = Set.of("close", "getConnection", "cancel");

    private final Guard guard;
    private final UnitSavepoint savepoint;
    private final PreparedStatement carrier;
    private final Preparing preparing;
    private final GuardedStatement guarded;
    private final List<Setting> settings = new ArrayList<>();
    private boolean sent;
    private @Nullable GuardedStatement plain;

    /** @param preparing makes the statement without the prefix */
    CarryingStatement(
            Guard guard,
            UnitSavepoint savepoint,
            PreparedStatement carrier,
            GuardedStatement guarded,
            Preparing preparing) {
        this.guard = guard;
        this.savepoint = savepoint;
        this.carrier = carrier;
        this.guarded = guarded;
        this.preparing = preparing;
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) throws Throwable {
        if (plain != null) {
            return plain.invoke(proxy, method, args);
        }
        String name = method.getName();
        if (EXECUTIONS.contains(name) && args == null && !sent && savepoint.isPending()) {
            return guarded.guarded(proxy, guard.call(() -> carry(name)));
        }
        if (isParameter(name, args) && !isStream(args)) {
            settings.add(new Setting(method, args));
            return sent ? null : guarded.invoke(proxy, method, args);
        }
        if (sent && !name.startsWith("execute") && !name.equals("addBatch") && !isStream(args)) {
            if (name.startsWith("set")) {
                settings.add(new Setting(method, args)); // for the next execution too
            }
            return guarded.invoke(proxy, method, args); // the results that are being read stay open
        }
        if (method.getDeclaringClass() == Object.class || UNSENT.contains(name)) {
            return guarded.invoke(proxy, method, args);
        }
        return withoutPrefix().invoke(proxy, method, args);
    }

    private static boolean isParameter(String name, Object @Nullable [] args) {
        return (name.startsWith("set") && args != null && args.length >= 2 && args[0] instanceof Integer)
                || name.equals("clearParameters");
    }

    /** The driver may read it at once, and then it cannot be set again. */
    private static boolean isStream(Object @Nullable [] args) {
        return args != null && args.length >= 2 && (args[1] instanceof InputStream || args[1] instanceof Reader);
    }

    private @Nullable Object carry(String how) throws SQLException {
        guarded.sending();
        sent = true;
        savepoint.carry(() -> guard.send(carrier, carrier::execute));
        boolean rows = false;
        for (int i = 0; i < UnitSavepoint.PREFIX_RESULTS; i++) {
            rows = carrier.getMoreResults();
        }
        return switch (how) {
            case "execute" -> rows;
            case "executeQuery" -> rows(rows);
            case "executeUpdate" -> count(rows, carrier.getUpdateCount());
            default -> count(rows, carrier.getLargeUpdateCount());
        };
    }

    /** As the driver answers where nothing is carried. */
    private static <N> N count(boolean answered, N count) throws SQLException {
        if (answered) {
            throw new SQLException("A result was returned when none was expected.", "0100E");
        }
        return count;
    }

    private ResultSet rows(boolean answered) throws SQLException {
        ResultSet rows = answered ? carrier.getResultSet() : null;
        if (rows == null) {
            throw new SQLException("No results were returned by the query.", "02000");
        }
        return rows;
    }

    private GuardedStatement withoutPrefix() throws Throwable {
        Object again = guard.call(() -> {
            PreparedStatement prepared = preparing.prepare();
            for (Setting setting : settings) {
                guard.pass(prepared, setting.method, setting.args);
            }
            carrier.close();
            return prepared;
        });
        GuardedStatement other = guarded.of(Objects.requireNonNull(again));
        plain = other;
        return other;
    }

    @SuppressWarnings("ArrayRecordComponent") // passed on, compared by nobody
    private record Setting(Method method, Object @Nullable [] args) {}

    /** Makes the statement without the prefix. */
    @FunctionalInterface
    interface Preparing {
        PreparedStatement prepare() throws SQLException;
    }
}
