package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueRow;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.queue.QueueState;
import dev.idem.spi.QueueStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/**
 * Messages of one ordering key stand in line, in the order of receipt: only the first may run, and the others are held.
 * Stateless.
 */
public final class OrderingKeys {
    private final Dialect dialect;
    private final OrderingLocks locks;
    private final LargeMessages large;
    private final RowsSql blocked;
    private final RowsSql heads;
    private final RowsSql followers;
    private final RowsSql release;

    public OrderingKeys(Tables tables, LargeMessages large) {
        this.large = large;
        dialect = tables.dialect();
        QueueSql sql = QueueSql.of(dialect.database());
        locks = new OrderingLocks(tables);
        blocked = new RowsSql(tables.fill(sql.blocked()));
        heads = new RowsSql(tables.fill(sql.heads()));
        followers = new RowsSql(tables.fill(sql.followers()));
        release = new RowsSql(tables.fill("UPDATE " + sql.byId() + " SET status = 0, due_at = " + QueueSql.DUE_NOW
                + ", fence = fence + 1 WHERE status = 3 AND id IN ({:id})"));
    }

    /**
     * Waits until nobody else is adding to these lines, and keeps others waiting until the commit. Answers those that have a
     * message in the queue by then.
     */
    Set<UUID> join(Connection connection, int consumer, Set<UUID> orders) throws SQLException {
        Set<UUID> found = new HashSet<>();
        if (orders.isEmpty()) {
            return found;
        }
        Map<String, NamedSql.Parameter> values = ordered(consumer, orders);
        if (blocked.bindsArrays()) {
            locks.bind(values, consumer, orders);
        } else {
            locks.take(connection, consumer, orders);
        }
        try (PreparedStatement statement = blocked.prepare(connection, values, () -> keys(orders))) {
            if (statement.execute() && blocked.bindsArrays()) {
                statement.getMoreResults(); // the locks answer first
            }
            try (ResultSet rows = statement.getResultSet()) {
                while (rows.next()) {
                    found.add(dialect.keyOf().read(rows, 1));
                }
            }
        }
        return found;
    }

    /**
     * Adds to each head what follows it without a gap and can run after it, in the order of receipt. A hot key is so worked
     * off in batches, too.
     */
    List<QueueRow> withFollowers(Connection connection, int consumer, QueueStore.Taking taking, List<QueueRow> heads)
            throws SQLException {
        Set<UUID> orders = new LinkedHashSet<>();
        heads.stream().filter(OrderingKeys::leads).forEach(head -> orders.add(Objects.requireNonNull(head.order())));
        int each = orders.isEmpty() ? 0 : (taking.limit() - heads.size()) / orders.size();
        if (each == 0) {
            return heads;
        }
        Map<UUID, List<QueueRow>> lines = lines(connection, consumer, taking, orders, each + 1);
        List<QueueRow> all = new ArrayList<>();
        for (QueueRow head : heads) {
            all.add(head);
            all.addAll(behind(head, lines.getOrDefault(head.order(), List.of())));
        }
        return all;
    }

    private static boolean leads(QueueRow row) {
        return row.order() != null && isRunnable(row);
    }

    private static boolean isRunnable(QueueRow row) {
        return !row.message().isSuspect() && row.message().unreadable() == null;
    }

    private Map<UUID, List<QueueRow>> lines(
            Connection connection, int consumer, QueueStore.Taking taking, Set<UUID> orders, int each)
            throws SQLException {
        Map<UUID, List<QueueRow>> lines = new HashMap<>();
        for (Collection<UUID> some : together(followers, orders)) {
            Map<String, NamedSql.Parameter> values = ordered(consumer, some);
            values.put("each", NamedSql.Parameter.of(each));
            values.put("inline", NamedSql.Parameter.of(large.inline(taking)));
            try (PreparedStatement statement = followers.prepare(connection, values, () -> keys(some));
                    ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    QueueRow row = QueueRow.of(rows, taking.consumer(), dialect);
                    lines.computeIfAbsent(Objects.requireNonNull(row.order()), k -> new ArrayList<>())
                            .add(row);
                }
            }
        }
        return lines;
    }

    private static List<QueueRow> behind(QueueRow head, List<QueueRow> line) {
        List<QueueRow> behind = new ArrayList<>();
        for (QueueRow row : line) {
            long id = row.message().id();
            if (id == head.message().id()) {
                continue;
            }
            if (id < head.message().id() || row.state() != QueueState.HELD || !isRunnable(row)) {
                break;
            }
            behind.add(row);
        }
        return behind;
    }

    /** Releases those of the ordering keys' first messages that are held; answers how many. */
    public int release(Connection connection, int consumer, Collection<UUID> orders) throws SQLException {
        List<Long> held = new ArrayList<>();
        if (orders.isEmpty()) {
            return 0;
        }
        for (Collection<UUID> some : together(heads, orders)) {
            try (PreparedStatement statement = heads.prepare(connection, ordered(consumer, some), () -> keys(some));
                    ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    held.add(rows.getLong(1));
                }
            }
        }
        return held.isEmpty() ? 0 : letGo(connection, held);
    }

    /** Releases what is held; who has moved it meanwhile is passed over. */
    int letGo(Connection connection, List<Long> ids) throws SQLException {
        try (PreparedStatement statement = release.prepare(
                connection,
                Map.of(),
                () -> ids.stream()
                        .map(id -> Map.of("id", NamedSql.Parameter.of((long) id)))
                        .toList())) {
            return statement.executeUpdate();
        }
    }

    /** All at once, or one by one where the database cannot look for the first of many. */
    private static List<? extends Collection<UUID>> together(RowsSql sql, Collection<UUID> orders) {
        return sql.bindsArrays()
                ? List.of(orders)
                : orders.stream().map(List::of).toList();
    }

    private Map<String, NamedSql.Parameter> ordered(int consumer, Collection<UUID> orders) {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("orders", NamedSql.Parameter.array("uuid", orders.toArray()));
        return values;
    }

    private List<Map<String, NamedSql.Parameter>> keys(Collection<UUID> orders) {
        return orders.stream()
                .map(order -> Map.of("order", dialect.key().apply(order)))
                .toList();
    }
}
