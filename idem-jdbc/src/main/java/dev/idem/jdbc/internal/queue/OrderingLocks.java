package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.marker.DeferredLock;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.Tables;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;

/**
 * Those who add messages of one ordering key take turns, each until its commit. So the ids of a line grow in the order of the
 * commits, and whoever sees a message sees all that are before it: without that, a message whose transaction commits late would
 * appear before one that is running already, or is done.
 *
 * <p>Lines share a fixed number of stripes, always taken in the same order. So a transaction that stores many keys cannot
 * exhaust the server's locks, nor wait in a circle with another one. Stateless.
 */
final class OrderingLocks implements DeferredLock.Locks {
    /** From 1 on: where they are rows, the one of 0 is nobody's. */
    private static final int STRIPES = 511;

    private final RowsSql takeLocks;
    private final int space;

    OrderingLocks(Tables tables) {
        takeLocks =
                new RowsSql(tables.fill(QueueSql.of(tables.dialect().database()).orderingLocks()));
        space = tables.fill("${queue}").hashCode();
    }

    /** For a statement that is sent later. */
    DeferredLock deferred(int consumer, UUID order) {
        return new DeferredLock(this, stripe(consumer, order));
    }

    private static int stripe(int consumer, UUID order) {
        return 1 + Math.floorMod(31 * consumer + order.hashCode(), STRIPES);
    }

    private static SortedSet<Integer> stripes(int consumer, Collection<UUID> orders) {
        SortedSet<Integer> stripes = new TreeSet<>();
        orders.forEach(order -> stripes.add(stripe(consumer, order)));
        return stripes;
    }

    void take(Connection connection, int consumer, Collection<UUID> orders) throws SQLException {
        take(connection, stripes(consumer, orders));
    }

    @Override
    public void take(Connection connection, SortedSet<Integer> stripes) throws SQLException {
        try (PreparedStatement statement = takeLocks.prepare(connection, values(stripes), () -> rows(stripes));
                ResultSet taken = statement.executeQuery()) {
            int count = 0;
            while (taken.next()) {
                count++;
            }
            if (!takeLocks.bindsArrays() && count != stripes.size()) {
                throw new SQLException(
                        "The table of lines lacks rows, so messages could overtake each other: it needs one for each number"
                                + " from 0 to " + STRIPES);
            }
        }
    }

    /** For a statement that takes the locks itself. */
    void bind(Map<String, NamedSql.Parameter> values, int consumer, Collection<UUID> orders) {
        values.putAll(values(stripes(consumer, orders)));
    }

    private Map<String, NamedSql.Parameter> values(SortedSet<Integer> stripes) {
        return Map.of(
                "space", NamedSql.Parameter.of(space),
                "stripes", NamedSql.Parameter.array("integer", stripes.toArray()));
    }

    private static List<Map<String, NamedSql.Parameter>> rows(SortedSet<Integer> stripes) {
        return stripes.stream()
                .map(stripe -> Map.of("stripe", NamedSql.Parameter.of((int) stripe)))
                .toList();
    }
}
