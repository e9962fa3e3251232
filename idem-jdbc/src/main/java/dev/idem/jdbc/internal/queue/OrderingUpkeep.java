package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.queue.QueueState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Keeps the messages that workers look through in order. What was due later and has become due joins those that are due now,
 * which are taken first, by their ids. What stands behind another of its line is held, so that nobody looks at it in vain. And
 * what is held although it is the first of its line is released. Each look is bounded; waits for nobody. Thread-safe.
 */
final class OrderingUpkeep {
    private static final int ROWS_IN_A_LOOK = 1_000;
    private static final Duration OVERDUE = Duration.ofSeconds(1);

    /**
     * What was leased, and may have ended its process, joins later: meanwhile those that were leased with it have their turn, which
     * comes by the end of the lease.
     */
    private static final Duration LEASE_OVERDUE = Duration.ofSeconds(20);

    private static final int LINES_IN_A_STEP = 1_000;
    private static final Duration LONGEST_LOOK = Duration.ofSeconds(1);
    private static final UUID BEFORE_ALL = new UUID(0, 0);

    private final Dialect dialect;
    private final QueueKit kit;
    private final NamedSql overdue;
    private final RowsSql freeOverdue;
    private final RowsSql joinDue;
    private final NamedSql behind;
    private final RowsSql freeReceived;
    private final RowsSql hold;
    private final NamedSql held;
    private final ConcurrentMap<Integer, UUID> lookedAt = new ConcurrentHashMap<>();

    OrderingUpkeep(Tables tables, QueueKit kit) {
        this.kit = kit;
        dialect = tables.dialect();
        QueueSql sql = QueueSql.of(dialect.database());
        String free = "SELECT q.id FROM " + sql.byId() + " WHERE q.id IN ({:id}) AND %s FOR UPDATE SKIP LOCKED";
        overdue = new NamedSql(tables.fill("SELECT id FROM ${queue} WHERE consumer = :consumer AND due_at > "
                + QueueSql.DUE_NOW + " AND due_at < (SELECT " + sql.now() + ") - :age AND (status <> "
                + QueueState.IN_PROGRESS.code() + " OR due_at < (SELECT " + sql.now()
                + ") - :lease) ORDER BY due_at LIMIT :limit"));
        freeOverdue = new RowsSql(
                tables.fill(free.formatted("q.due_at > " + QueueSql.DUE_NOW + " AND q.due_at < " + sql.now())));
        joinDue = new RowsSql(
                tables.fill("UPDATE " + sql.byId() + " SET due_at = " + QueueSql.DUE_NOW + " WHERE id IN ({:id})"));
        behind = new NamedSql(tables.fill("""
                SELECT q.id, q.order_key FROM (SELECT id, order_key, status FROM ${queue} WHERE consumer = :consumer
                  AND due_at <= (SELECT %s) ORDER BY due_at, id LIMIT :limit) q
                WHERE q.status = 0 AND q.order_key IS NOT NULL AND EXISTS (SELECT 1 FROM ${queue} p
                  WHERE p.consumer = :consumer AND p.order_key = q.order_key AND p.id < q.id AND p.status <> 5)
                """.formatted(sql.now())));
        freeReceived = new RowsSql(tables.fill(free.formatted("q.status = 0")));
        hold = new RowsSql(tables.fill("UPDATE " + sql.byId()
                + " SET due_at = NULL, fence = fence + 1, status = 3 WHERE status = 0 AND id IN ({:id})"));
        held = new NamedSql(tables.fill(sql.held()));
    }

    /** Answers how many messages can be taken now that could not before. */
    int look(Connection connection, int consumer) throws SQLException {
        long until = System.nanoTime() + LONGEST_LOOK.toNanos();
        do { // as many as there are: else they would wait ever longer while much comes that is due at once
            begin(connection);
        } while (letOverdueJoin(connection, consumer) && System.nanoTime() < until);
        begin(connection);
        Set<UUID> lines = holdThoseBehind(connection, consumer);
        begin(connection);
        // Whoever was before them may have gone meanwhile, and have found nothing that was held.
        int released = kit.lines().release(connection, consumer, lines);
        return released + releaseStranded(connection, consumer);
    }

    private void begin(Connection connection) throws SQLException {
        connection.commit();
        kit.queue().isolate(connection);
    }

    /** Whether there may be more. */
    private boolean letOverdueJoin(Connection connection, int consumer) throws SQLException {
        Map<String, NamedSql.Parameter> values = limited(consumer, ROWS_IN_A_LOOK);
        values.put("age", NamedSql.Parameter.of(Micros.of(OVERDUE)));
        values.put("lease", NamedSql.Parameter.of(Micros.of(LEASE_OVERDUE)));
        List<Long> found = new ArrayList<>();
        try (PreparedStatement statement = overdue.prepare(connection, values);
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                found.add(rows.getLong(1));
            }
        }
        List<Long> free = free(connection, freeOverdue, found);
        update(connection, joinDue, free);
        return found.size() == ROWS_IN_A_LOOK && !free.isEmpty();
    }

    /** Answers the lines in which it has held something. */
    private Set<UUID> holdThoseBehind(Connection connection, int consumer) throws SQLException {
        List<Long> found = new ArrayList<>();
        Set<UUID> lines = new HashSet<>();
        try (PreparedStatement statement = behind.prepare(connection, limited(consumer, ROWS_IN_A_LOOK));
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                found.add(rows.getLong(1));
                lines.add(dialect.keyOf().read(rows, 2));
            }
        }
        update(connection, hold, free(connection, freeReceived, found));
        return lines;
    }

    private int releaseStranded(Connection connection, int consumer) throws SQLException {
        UUID after = lookedAt.getOrDefault(consumer, BEFORE_ALL);
        long until = System.nanoTime() + LONGEST_LOOK.toNanos();
        List<Long> stranded = new ArrayList<>();
        boolean more = true;
        while (more && stranded.size() < ROWS_IN_A_LOOK && System.nanoTime() < until) {
            Map<String, NamedSql.Parameter> values = limited(consumer, LINES_IN_A_STEP);
            values.put("after", dialect.key().apply(after));
            int lines = 0;
            try (PreparedStatement statement = held.prepare(connection, values);
                    ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    lines++;
                    after = dialect.keyOf().read(rows, 1);
                    if (rows.getInt(3) == 1) {
                        stranded.add(rows.getLong(2));
                    }
                }
            }
            more = lines == LINES_IN_A_STEP;
        }
        lookedAt.put(consumer, more ? after : BEFORE_ALL);
        return stranded.isEmpty() ? 0 : kit.lines().letGo(connection, stranded);
    }

    private static List<Long> free(Connection connection, RowsSql sql, List<Long> ids) throws SQLException {
        List<Long> free = new ArrayList<>();
        if (!ids.isEmpty()) {
            try (PreparedStatement statement = sql.prepare(connection, Map.of(), () -> rows(ids));
                    ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    free.add(rows.getLong(1));
                }
            }
        }
        return free;
    }

    private static void update(Connection connection, RowsSql sql, List<Long> ids) throws SQLException {
        if (!ids.isEmpty()) {
            try (PreparedStatement statement = sql.prepare(connection, Map.of(), () -> rows(ids))) {
                statement.executeUpdate();
            }
        }
    }

    private static List<Map<String, NamedSql.Parameter>> rows(List<Long> ids) {
        return ids.stream()
                .map(id -> Map.of("id", NamedSql.Parameter.of((long) id)))
                .toList();
    }

    private static Map<String, NamedSql.Parameter> limited(int consumer, int limit) {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("limit", NamedSql.Parameter.of(limit));
        return values;
    }
}
