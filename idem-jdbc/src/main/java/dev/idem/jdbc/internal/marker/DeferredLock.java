package dev.idem.jdbc.internal.marker;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

/** A lock that a deferred statement needs: it stands behind its values, and is not bound but taken before it is sent. */
public record DeferredLock(Locks locks, int number) {
    /** Locks by numbers. */
    @FunctionalInterface
    public interface Locks {
        /** Takes these in their order; those that the transaction has already cost nothing. */
        void take(Connection connection, SortedSet<Integer> numbers) throws SQLException;
    }

    /** Takes them all at once. */
    static void take(Connection connection, Collection<DeferredLock> all) throws SQLException {
        Map<Locks, SortedSet<Integer>> numbers = new HashMap<>();
        all.forEach(lock ->
                numbers.computeIfAbsent(lock.locks, l -> new TreeSet<>()).add(lock.number));
        for (Map.Entry<Locks, SortedSet<Integer>> each : numbers.entrySet()) {
            each.getKey().take(connection, each.getValue());
        }
    }
}
