package dev.idem.jdbc.internal.guard;

import java.lang.ref.WeakReference;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Knows which transactions of the store's data source the calling thread has open. A message that is processed beside one
 * would be marked although its effect, written into that transaction, may yet be rolled back. Thread-safe.
 */
final class ThreadTransactions {
    /** Weak: a connection that its user has lost must not speak for the thread for ever. */
    @SuppressWarnings("ThreadLocalUsage") // not static: two stores in one process must not mix
    private final ThreadLocal<List<WeakReference<TrackedConnection>>> held = ThreadLocal.withInitial(ArrayList::new);

    /** @param check asked before it is used */
    Connection track(Connection real, TrackedConnection.Check check) {
        return Guard.proxy(Connection.class, new TrackedConnection(real, this, check));
    }

    /** The calling thread has begun to use it. */
    void holds(TrackedConnection connection) {
        List<WeakReference<TrackedConnection>> here = held.get();
        here.removeIf(other -> !isHeld(other.get()));
        here.add(new WeakReference<>(connection));
    }

    private static boolean isHeld(@Nullable TrackedConnection connection) {
        return connection != null && connection.isHeldBy(Thread.currentThread());
    }

    /** @param counts which connections count */
    boolean isOpenHere(Predicate<Connection> counts) {
        List<WeakReference<TrackedConnection>> here = held.get();
        return !here.isEmpty()
                && here.stream()
                        .map(WeakReference::get)
                        .filter(Objects::nonNull)
                        .anyMatch(connection ->
                                connection.isOpenOn(Thread.currentThread()) && counts.test(connection.below()));
    }
}
