package dev.idem.jdbc.internal.retention;

import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.queue.QueueState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Walks through what people have given up, and through the history of attempts and of steps, and removes what is older than
 * its consumer's window: a message that was given up together with its attempts, before its marker; attempts, steps and
 * effects of others when their message has left the queue. What is in any other state stays, however old it is.
 */
final class QueueScan implements TableScan {
    /** Before the first number. */
    private static final long NONE = -1;

    private static final String GIVEN_UP = "status = " + QueueState.FAILED_TERMINAL.code();

    private final Tables tables;
    private final List<Cutoffs.Cutoff> cutoffs;
    private final int rows;
    private int index;
    private long after = NONE;
    private long upTo = NONE;

    QueueScan(Tables tables, List<Cutoffs.Cutoff> cutoffs, int rows) {
        this.tables = tables;
        this.rows = rows;
        this.cutoffs = cutoffs.stream()
                .filter(cutoff -> cutoff.markers() != Micros.NEVER)
                .toList();
    }

    @Override
    public String what() {
        return index < cutoffs.size() ? "messages given up" : index == cutoffs.size() ? "attempts" : "effects";
    }

    /** After the consumers' messages the attempts of all, and then their steps and effects. */
    @Override
    public boolean hasNext() {
        return !cutoffs.isEmpty() && index <= cutoffs.size() + 1;
    }

    @Override
    public Map<Integer, Long> step(Connection connection, boolean dryRun) throws SQLException {
        if (index < cutoffs.size()) {
            return messages(connection, cutoffs.get(index), dryRun);
        }
        return index == cutoffs.size() ? attempts(connection, dryRun) : effects(connection, dryRun);
    }

    private Map<Integer, Long> messages(Connection connection, Cutoffs.Cutoff cutoff, boolean dryRun)
            throws SQLException {
        String page = "SELECT id, consumer, stored_at, 0 FROM ${queue} WHERE consumer = " + cutoff.consumer() + " AND "
                + GIVEN_UP + " AND id > " + after + " ORDER BY id LIMIT " + rows;
        List<Long> old = old(connection, page);
        if (old.isEmpty() || dryRun) {
            return Map.of(cutoff.consumer(), (long) old.size());
        }
        // Somebody may have retried it since; then it and its history stay.
        List<Long> gone = ids(
                connection,
                "SELECT id FROM ${queue} WHERE id IN (" + list(old) + ") AND " + GIVEN_UP + " FOR UPDATE SKIP LOCKED");
        if (!gone.isEmpty()) {
            execute(connection, "DELETE FROM ${queue} WHERE id IN (" + list(gone) + ")");
            execute(connection, "DELETE FROM ${attempt} WHERE queue_id IN (" + list(gone) + ")");
            execute(connection, "DELETE FROM ${revision} WHERE queue_id IN (" + list(gone) + ")");
        }
        return Map.of(cutoff.consumer(), (long) gone.size());
    }

    /** A message that has left the queue does not come back, so looking without a lock is enough. */
    private Map<Integer, Long> attempts(Connection connection, boolean dryRun) throws SQLException {
        String page = "SELECT a.id, a.consumer, a.failed_at, (SELECT COUNT(*) FROM ${queue} q WHERE q.id = a.queue_id)"
                + " FROM ${attempt} a WHERE a.id > " + after + " ORDER BY a.id LIMIT " + rows;
        if (after == NONE && !dryRun) {
            forgetRevisions(connection);
        }
        List<Long> old = old(connection, page);
        if (!old.isEmpty() && !dryRun) {
            execute(connection, "DELETE FROM ${attempt} WHERE id IN (" + list(old) + ")");
        }
        return Map.of();
    }

    /** One that is written again since it was looked at is young, and stays: its message was stored once more. */
    private Map<Integer, Long> effects(Connection connection, boolean dryRun) throws SQLException {
        String page = "SELECT s.id, s.consumer, s.stored_at, (SELECT COUNT(*) FROM ${queue} q WHERE q.consumer ="
                + " s.consumer AND q.message_key = s.message_key) FROM ${step} s WHERE s.id > " + after
                + " ORDER BY s.id LIMIT " + rows;
        List<Long> old = old(connection, page);
        if (!old.isEmpty() && !dryRun) {
            execute(connection, "DELETE FROM ${step} WHERE id IN (" + list(old) + ") AND stored_at < " + latest());
        }
        return Map.of();
    }

    private long latest() {
        return cutoffs.stream().mapToLong(Cutoffs.Cutoff::markers).max().orElse(Micros.NEVER);
    }

    /** There are few: each was made by a person. */
    private void forgetRevisions(Connection connection) throws SQLException {
        for (Cutoffs.Cutoff cutoff : cutoffs) {
            execute(
                    connection,
                    "DELETE FROM ${revision} WHERE consumer = " + cutoff.consumer() + " AND edited_at < "
                            + cutoff.markers()
                            + " AND NOT EXISTS (SELECT 1 FROM ${queue} q WHERE q.id = ${revision}.queue_id)");
        }
    }

    /**
     * Those of a page that are older than their consumers' windows. Behind a page whose rows are all too young for any there are
     * none: one alone says nothing, for effects become young again when their message is completed.
     */
    private List<Long> old(Connection connection, String page) throws SQLException {
        Map<Integer, Long> limits = new HashMap<>();
        cutoffs.forEach(cutoff -> limits.put(cutoff.consumer(), cutoff.markers()));
        long latest = latest();
        List<Long> old = new ArrayList<>();
        int seen = 0;
        boolean aged = false;
        upTo = NONE;
        try (PreparedStatement statement = connection.prepareStatement(tables.fill(page));
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                long time = row.getLong(3);
                if (time < limits.getOrDefault(row.getInt(2), Micros.NEVER) && row.getLong(4) == 0) {
                    old.add(row.getLong(1));
                }
                seen++;
                aged |= time < latest;
                upTo = seen == rows && aged ? row.getLong(1) : NONE;
            }
        }
        return old;
    }

    private List<Long> ids(Connection connection, String sql) throws SQLException {
        List<Long> ids = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(tables.fill(sql));
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                ids.add(row.getLong(1));
            }
        }
        return ids;
    }

    private void execute(Connection connection, String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(tables.fill(sql))) {
            statement.executeUpdate();
        }
    }

    private static String list(List<Long> ids) {
        return ids.stream().map(String::valueOf).collect(Collectors.joining(", "));
    }

    @Override
    public void advance() {
        after = upTo;
        if (upTo == NONE) {
            index++;
        }
    }

    @Override
    public int percent() {
        return -1;
    }
}
