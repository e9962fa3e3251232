package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.Hashes;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.queue.QueueState;
import dev.idem.spi.QueueChange;
import dev.idem.spi.QueueMove;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Moves stored messages from one state to another: the only place where a state is written, but for the insert and the
 * completion. Every move looks at the state it starts from and at the fence, so it is made once or not at all. Stateless.
 */
public final class QueueChanges {
    /** The reason of a message that was parked because one before it of its key was. */
    static final String BEHIND = "BEHIND";

    private static final Set<QueueState> DUE = Set.of(QueueState.RECEIVED, QueueState.FAILED_RETRYABLE);

    private final Map<QueueMove, NamedSql> moves = new EnumMap<>(QueueMove.class);
    private final NamedSql complete;
    private final NamedSql attempt;
    private final NamedSql parkRest;
    private final Dialect dialect;
    private final RowsSql lease;

    public QueueChanges(Tables tables) {
        dialect = tables.dialect();
        QueueSql sql = QueueSql.of(dialect.database());
        String now = sql.now();
        for (QueueMove move : QueueMove.values()) {
            moves.put(move, new NamedSql(tables.fill(update(move, sql))));
        }
        complete = new NamedSql(tables.fill("DELETE FROM ${queue}" + where(QueueMove.COMPLETE)));
        lease = new RowsSql(tables.fill(update(QueueMove.LEASE, sql)
                .replace("id = :id AND fence = :fence", "({OR (id = :id AND fence = :fence)})")));
        parkRest = new NamedSql(tables.fill("UPDATE ${queue} SET fence = fence + 1, due_at = NULL, reason = '" + BEHIND
                + "', status = " + QueueMove.PARK.to().code() + " WHERE consumer = :consumer AND order_key = :order"
                + " AND id > :id AND status = " + QueueState.HELD.code()));
        attempt =
                new NamedSql(tables.fill("INSERT INTO ${attempt} (queue_id, failed_at, took, consumer, worker, reason,"
                        + " error_type, error) VALUES (:id, " + now
                        + ", :took, :consumer, :worker, :reason, :type, :error)"));
    }

    /** A run that was leased was counted when it was leased. */
    private static String update(QueueMove move, QueueSql sql) {
        String leased = "status = " + QueueState.IN_PROGRESS.code();
        String unstarted = ", started = CASE WHEN " + leased + " THEN started - 1 ELSE started END";
        String counts = switch (move) {
            case HOLD -> unstarted;
            case GIVE_BACK -> // why, if there is a reason
                unstarted + ", reason = COALESCE(NULLIF(:reason, ''), reason), error = COALESCE(:error, error)";
            case FAIL, PARK ->
                ", started = CASE WHEN " + leased + " THEN started ELSE started + :counts END,"
                        + " failed = failed + :counts, reason = :reason, error = COALESCE(:error, error)";
            case LEASE -> ", started = started + 1, worker = :worker";
            case RETRY, RETRY_BEHIND ->
                ", started = 0, failed = 0, order_key = COALESCE(order_key, skipped_key), skipped_key = NULL";
            // Nobody looks past it any more for the first of its line.
            case SKIP -> ", reason = :reason, skipped_key = order_key, order_key = NULL";
            case COMPLETE, RELEASE -> "";
        };
        boolean due = DUE.contains(move.to()) || move == QueueMove.LEASE || move == QueueMove.HOLD;
        String dueAt = "CASE WHEN :delay = 0 THEN " + QueueSql.DUE_NOW + " ELSE " + sql.now() + " + :delay END";
        // The state comes last: the expressions before it must see the old one, also where columns change in turn.
        return "UPDATE " + sql.byId() + " SET fence = fence + 1, due_at = " + (due ? dueAt : "NULL") + counts
                + ", status = " + move.to().code() + where(move);
    }

    private static String where(QueueMove move) {
        return " WHERE id = :id AND fence = :fence AND status IN ("
                + move.from().stream()
                        .map(QueueState::code)
                        .sorted()
                        .map(String::valueOf)
                        .collect(Collectors.joining(", "))
                + ")";
    }

    /** False when somebody else has moved the message since it was read; then nothing has changed. */
    boolean make(Connection connection, int consumer, String worker, QueueChange change) throws SQLException {
        QueueChange.FailedRun run = change.run();
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("delay", NamedSql.Parameter.of(Micros.of(change.delay())));
        values.put("counts", NamedSql.Parameter.of(run != null && run.ran() ? 1 : 0));
        values.put("reason", NamedSql.Parameter.of(change.reason()));
        values.put("worker", NamedSql.Parameter.of(worker));
        values.put("error", NamedSql.Parameter.of(run == null ? null : run.error()));
        if (!move(
                connection,
                change.move(),
                change.message().id(),
                change.message().fence(),
                values)) {
            return false;
        }
        if (run != null && change.move() != QueueMove.GIVE_BACK) { // no attempt, and it may come every second
            record(connection, consumer, worker, change, run);
        }
        return true;
    }

    /** The same for a person, who need not be able to read the message. */
    public boolean makeByHand(Connection connection, QueueMove move, long id, long fence, String reason)
            throws SQLException {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("delay", NamedSql.Parameter.of(0L));
        values.put("counts", NamedSql.Parameter.of(0));
        values.put("reason", NamedSql.Parameter.of(reason));
        values.put("error", NamedSql.Parameter.of((byte[]) null));
        return move(connection, move, id, fence, values);
    }

    private boolean move(
            Connection connection, QueueMove move, long id, long fence, Map<String, NamedSql.Parameter> values)
            throws SQLException {
        NamedSql sql = move == QueueMove.COMPLETE ? complete : sqlOf(move);
        values.put("id", NamedSql.Parameter.of(id));
        values.put("fence", NamedSql.Parameter.of(fence));
        try (PreparedStatement statement = sql.prepare(connection, values)) {
            return statement.executeUpdate() == 1;
        }
    }

    /**
     * Parks what is held behind a message that was parked in this transaction. Their fences grow, so whoever has read them
     * before cannot complete them. Answers how many.
     */
    int parkRest(Connection connection, int consumer, QueuedMessage parked) throws SQLException {
        String orderingKey = parked.message().orderingKey().orElse(null);
        if (orderingKey == null) {
            return 0;
        }
        Map<String, NamedSql.Parameter> values = Map.of(
                "consumer", NamedSql.Parameter.of(consumer),
                "order", dialect.key().apply(Hashes.uuid(orderingKey)),
                "id", NamedSql.Parameter.of(parked.id()));
        try (PreparedStatement statement = parkRest.prepare(connection, values)) {
            return statement.executeUpdate();
        }
    }

    /** Makes a change, and what the consumer's policy wants done with it. */
    boolean make(Connection connection, int consumer, QueueStore.Taking taking, QueueChange change)
            throws SQLException {
        if (!make(connection, consumer, taking.name(), change)) {
            return false;
        }
        if (change.move() == QueueMove.PARK && taking.parksKey()) {
            parkRest(connection, consumer, change.message());
        }
        return true;
    }

    /** Leases messages that this transaction has locked. */
    void leaseLocked(Connection connection, String worker, List<QueuedMessage> messages, Duration length)
            throws SQLException {
        Map<String, NamedSql.Parameter> values =
                Map.of("delay", NamedSql.Parameter.of(Micros.of(length)), "worker", NamedSql.Parameter.of(worker));
        try (PreparedStatement statement = lease.prepare(connection, values, () -> Queue.rowsOf(messages))) {
            if (statement.executeUpdate() != messages.size()) {
                throw new SQLException("Messages that were locked could not be leased", "40001");
            }
        }
    }

    private NamedSql sqlOf(QueueMove move) {
        @Nullable NamedSql sql = moves.get(move);
        if (sql == null) {
            throw new IllegalArgumentException("no statement for " + move);
        }
        return sql;
    }

    private void record(
            Connection connection, int consumer, String worker, QueueChange change, QueueChange.FailedRun run)
            throws SQLException {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("id", NamedSql.Parameter.of(change.message().id()));
        values.put("took", NamedSql.Parameter.of(Micros.of(run.duration())));
        values.put("consumer", NamedSql.Parameter.of(consumer));
        values.put("worker", NamedSql.Parameter.of(worker));
        values.put("reason", NamedSql.Parameter.of(change.reason()));
        values.put("type", NamedSql.Parameter.of(run.errorType()));
        values.put("error", NamedSql.Parameter.of(run.error()));
        try (PreparedStatement statement = attempt.prepare(connection, values)) {
            statement.executeUpdate();
        }
    }
}
