package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.queue.QueueState;
import dev.idem.queue.QueueStats;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Counts stored messages, but only up to a limit, so that it costs the same however many there are. Stateless. */
public final class QueueNumbers {
    private static final long LIMIT = 10_000;

    private final NamedSql count;
    private final NamedSql received;
    private final NamedSql stale;
    private final NamedSql oldest;
    private final NamedSql next;

    public QueueNumbers(Tables tables) {
        QueueSql sql = QueueSql.of(tables.dialect().database());
        String counted =
                "SELECT COUNT(*) FROM (SELECT 1 AS one FROM ${queue} WHERE consumer = :consumer AND %s LIMIT :limit) c";
        count = new NamedSql(tables.fill(counted.formatted("status > 0 AND status = :status")));
        received = new NamedSql(tables.fill(counted.formatted("due_at IS NOT NULL AND status = 0")));
        stale = new NamedSql(
                tables.fill(counted.formatted("status > 0 AND status = 1 AND due_at < (SELECT " + sql.now() + ")")));
        oldest = new NamedSql(tables.fill(sql.oldest()));
        next = new NamedSql(tables.fill("SELECT due_at - " + sql.now() + " FROM ${queue} WHERE consumer = :consumer"
                + " AND due_at > (SELECT " + sql.now() + ") ORDER BY due_at LIMIT 1"));
    }

    public QueueStats stats(Connection connection, String name, int consumer) throws SQLException {
        Map<QueueState, Long> counts = new EnumMap<>(QueueState.class);
        for (QueueState state : QueueState.values()) {
            if (state != QueueState.RECEIVED && state != QueueState.COMPLETED) {
                counts.put(state, count(connection, consumer, state, LIMIT));
            }
        }
        long waiting = number(connection, received, limited(consumer, LIMIT)).orElse(0L);
        long held = counts.getOrDefault(QueueState.HELD, 0L);
        long retryable = counts.getOrDefault(QueueState.FAILED_RETRYABLE, 0L);
        boolean atLeast = waiting == LIMIT || counts.containsValue(LIMIT);
        return new QueueStats(
                name,
                waiting + retryable,
                number(connection, oldest, limited(consumer, LIMIT)).map(age -> Micros.duration(Math.max(0, age))),
                counts.getOrDefault(QueueState.IN_PROGRESS, 0L),
                number(connection, stale, limited(consumer, LIMIT)).orElse(0L),
                retryable,
                held,
                counts.getOrDefault(QueueState.PARKED, 0L),
                atLeast);
    }

    private long count(Connection connection, int consumer, QueueState state, long limit) throws SQLException {
        Map<String, NamedSql.Parameter> values = limited(consumer, limit);
        values.put("status", NamedSql.Parameter.of(state.code()));
        return number(connection, count, values).orElse(0L);
    }

    Optional<Duration> nextDue(Connection connection, int consumer) throws SQLException {
        return number(connection, next, limited(consumer, 1)).map(micros -> Micros.duration(Math.max(0, micros)));
    }

    /** Whether at least so many wait, for a worker, their next attempt, or another of their key. */
    boolean isFull(Connection connection, int consumer, long cap) throws SQLException {
        long waiting = number(connection, received, limited(consumer, cap)).orElse(0L);
        for (QueueState state : new QueueState[] {QueueState.FAILED_RETRYABLE, QueueState.HELD}) {
            if (waiting < cap) {
                waiting += count(connection, consumer, state, cap);
            }
        }
        return waiting >= cap;
    }

    private static Map<String, NamedSql.Parameter> limited(int consumer, long limit) {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("limit", NamedSql.Parameter.of(limit));
        return values;
    }

    private static Optional<Long> number(Connection connection, NamedSql sql, Map<String, NamedSql.Parameter> values)
            throws SQLException {
        try (PreparedStatement statement = sql.prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            if (!row.next()) {
                return Optional.empty();
            }
            long number = row.getLong(1);
            return row.wasNull() ? Optional.empty() : Optional.of(number);
        }
    }
}
