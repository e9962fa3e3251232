package dev.idem.jdbc.admin;

import dev.idem.jdbc.internal.queue.AuditRows;
import dev.idem.jdbc.internal.queue.QueueChanges;
import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.Tables;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Does what a person wants, message by message, in the caller's transaction: locks the row without waiting, decides, moves
 * it by its fence, and writes down who did it and why. A row that is locked belongs to a worker, or to another person.
 */
final class InboxChanges {
    /** The words in the queue; the person's own are in the audit. */
    private static final String PARKED_BY_HAND = "BY_HAND";

    private static final String SKIPPED = "SKIPPED";

    private final Dialect dialect;
    private final InboxRows rows;
    private final QueueChanges changes;
    private final NamedSql earlier;
    private final AuditRows audit;
    private final NamedSql notes;
    private final StreamSkip streams;

    InboxChanges(Tables tables) {
        dialect = tables.dialect();
        rows = new InboxRows(tables);
        changes = new QueueChanges(tables);
        streams = new StreamSkip(tables);
        earlier = new NamedSql(tables.fill("SELECT 1 FROM ${queue} WHERE consumer = :consumer AND order_key = :order"
                + " AND id < :id AND status <> 5 LIMIT 1"));
        audit = new AuditRows(tables);
        notes = new NamedSql(
                tables.fill("SELECT name, running FROM ${worker} WHERE consumer = :consumer AND running IS NOT NULL"));
    }

    /**
     * Who wants what.
     *
     * @param force also what could put messages out of order
     */
    record Wish(InboxAction action, String actor, String reason, boolean force) {}

    /** What a wish has come to; the ordering keys are to be released after the commit, each with its consumer's number. */
    record Made(List<InboxAnswer> answers, Map<Integer, Set<UUID>> orders) {}

    /** Says what would happen, as far as it can be seen without a lock. */
    List<InboxAnswer> look(Connection connection, Wish wish, Collection<Long> ids) throws SQLException {
        List<InboxAnswer> answers = new ArrayList<>();
        for (InboxRow row : rows.read(connection, ids)) {
            answers.add(decide(connection, wish, row).answer());
        }
        return answers;
    }

    /** Those that have left the queue meanwhile are not answered. */
    Made make(Connection connection, Wish wish, Collection<Long> ids) throws SQLException {
        List<InboxAnswer> answers = new ArrayList<>();
        Map<Integer, Set<UUID>> orders = new HashMap<>();
        Set<Long> locked = new HashSet<>();
        for (InboxRow row : rows.lock(connection, ids)) {
            locked.add(row.message().id());
            InboxDecision decision = decide(connection, wish, row);
            if (decision.move() != null) {
                move(connection, wish, row, decision);
                if (row.order() != null) {
                    orders.computeIfAbsent(row.number(), n -> new HashSet<>()).add(row.order());
                }
            }
            answers.add(decision.answer());
        }
        List<Long> rest = ids.stream().filter(id -> !locked.contains(id)).toList();
        for (InboxRow row : rows.read(connection, rest)) {
            String who = row.message().worker().filter(w -> row.leased()).orElse(runner(connection, row));
            answers.add(InboxAnswer.not(
                    row.message().id(),
                    InboxAnswer.Result.BUSY,
                    row.message().state(),
                    "is being handled now by " + who));
        }
        return new Made(answers, orders);
    }

    private InboxDecision decide(Connection connection, Wish wish, InboxRow row) throws SQLException {
        InboxDecision decision = InboxDecision.on(row, wish.action(), wish.force(), () -> hasEarlier(connection, row));
        if (wish.action() != InboxAction.SKIP || decision.move() == null) {
            return decision;
        }
        return streams.refusal(connection, row)
                .map(why -> InboxDecision.not(row, InboxAnswer.Result.REFUSED, why))
                .orElse(decision);
    }

    private boolean hasEarlier(Connection connection, InboxRow row) throws SQLException {
        UUID order = row.order();
        if (order == null) {
            return false;
        }
        Map<String, NamedSql.Parameter> values = Map.of(
                "consumer", NamedSql.Parameter.of(row.number()),
                "order", dialect.key().apply(order),
                "id", NamedSql.Parameter.of(row.message().id()));
        try (PreparedStatement statement = earlier.prepare(connection, values);
                ResultSet found = statement.executeQuery()) {
            return found.next();
        }
    }

    private void move(Connection connection, Wish wish, InboxRow row, InboxDecision decision) throws SQLException {
        String word = wish.action() == InboxAction.SKIP ? SKIPPED : PARKED_BY_HAND;
        if (decision.move() == null
                || !changes.makeByHand(
                        connection, decision.move(), row.message().id(), row.fence(), word)) {
            throw new SQLException("A message that was locked could not be moved", "40001");
        }
        if (wish.action() == InboxAction.SKIP) {
            streams.pass(connection, row);
        }
        String detail =
                "message " + row.message().id() + ": " + decision.answer().detail();
        audit.write(
                connection,
                new AuditRows.Entry(
                        row.number(), row.key(), wish.action().name(), wish.actor(), wish.reason(), detail));
    }

    /** Whose note names the message: a worker that handles it in the transaction that has locked it. */
    private String runner(Connection connection, InboxRow row) throws SQLException {
        Optional<String> found = Optional.empty();
        try (PreparedStatement statement =
                        notes.prepare(connection, Map.of("consumer", NamedSql.Parameter.of(row.number())));
                ResultSet workers = statement.executeQuery()) {
            while (workers.next() && found.isEmpty()) {
                found = names(workers.getBytes(2), row) ? Optional.of("worker " + workers.getString(1)) : found;
            }
        }
        return found.orElse("somebody who has locked it: a worker, or another person");
    }

    private static boolean names(byte[] note, InboxRow row) {
        for (ByteBuffer bytes = ByteBuffer.wrap(note); bytes.remaining() >= 2 * Long.BYTES; bytes.getLong()) {
            if (bytes.getLong() == row.message().id()) {
                return true;
            }
        }
        return false;
    }
}
