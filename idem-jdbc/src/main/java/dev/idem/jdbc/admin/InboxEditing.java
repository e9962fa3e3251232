package dev.idem.jdbc.admin;

import dev.idem.jdbc.internal.queue.AuditRows;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.queue.QueueState;
import dev.idem.spi.Envelope;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Edits a stored message in the caller's transaction. Only what no worker can take is edited: the row is locked without
 * waiting, and written by its fence, which grows, so that nobody who has read it before can go on with the old bytes. The
 * marker is left alone: its fingerprint is still that of what was received, so a redelivery of that is a duplicate, and
 * somebody else's message with the new bytes a conflict.
 */
final class InboxEditing {
    private static final Set<QueueState> EDITABLE = Set.of(QueueState.PARKED, QueueState.FAILED_TERMINAL);

    private final InboxRows rows;
    private final InboxRevisions revisions;
    private final NamedSql read;
    private final NamedSql write;
    private final AuditRows audit;

    InboxEditing(Tables tables) {
        rows = new InboxRows(tables);
        revisions = new InboxRevisions(tables);
        read = new NamedSql(tables.fill("SELECT head, payload FROM ${queue} WHERE id = :id"));
        write = new NamedSql(tables.fill("UPDATE ${queue} SET head = :head, payload = :payload, fence = fence + 1"
                + " WHERE id = :id AND fence = :fence AND status IN (" + QueueState.PARKED.code() + ", "
                + QueueState.FAILED_TERMINAL.code() + ")"));
        audit = new AuditRows(tables);
    }

    InboxAnswer edit(Connection connection, long id, InboxEdit edit, String actor, String reason, boolean dryRun)
            throws SQLException {
        List<InboxRow> locked = dryRun ? rows.read(connection, List.of(id)) : rows.lock(connection, List.of(id));
        if (locked.isEmpty()) {
            return rows.read(connection, List.of(id)).stream()
                    .findFirst()
                    .map(row ->
                            not(row, InboxAnswer.Result.BUSY, "is being handled, or changed by another person, now"))
                    .orElse(InboxAnswer.missing(id));
        }
        InboxRow row = locked.get(0);
        QueueState state = row.message().state();
        if (!EDITABLE.contains(state)) {
            return not(
                    row,
                    row.leased() ? InboxAnswer.Result.BUSY : InboxAnswer.Result.REFUSED,
                    "is " + state + ": park it first, so that no worker has it while it is edited");
        }
        if (row.isErased()) {
            return not(row, InboxAnswer.Result.REFUSED, "was erased: it cannot be handled any more");
        }
        if (row.stream() != null) {
            return not(
                    row,
                    InboxAnswer.Result.REFUSED,
                    "has a place in a stream, which an edit might change: skip it, and send a corrected one");
        }
        return changed(connection, row, edit, actor, reason, dryRun);
    }

    private InboxAnswer changed(
            Connection connection, InboxRow row, InboxEdit edit, String actor, String reason, boolean dryRun)
            throws SQLException {
        Bytes before = bytes(connection, row.message().id());
        byte[] head = before.head;
        if (edit.changesHeaders()) {
            try {
                head = Envelope.of(edit.applied(Envelope.message(before.head, new byte[0])));
            } catch (IllegalArgumentException | NegativeArraySizeException unreadable) {
                return not(
                        row,
                        InboxAnswer.Result.REFUSED,
                        "has headers that cannot be read: only its payload can be edited");
            }
        }
        byte[] payload = edit.payloadInstead(before.payload);
        if (Arrays.equals(head, before.head) && Arrays.equals(payload, before.payload)) {
            return not(row, InboxAnswer.Result.UNCHANGED, "is like that already");
        }
        String changes = edit.describe(before.payload);
        if (dryRun) {
            return done(row, "would become a new revision: " + changes);
        }
        int kept = revisions.keep(connection, row.message().id(), actor, reason, changes);
        write(connection, row, head, payload);
        String detail = "revision " + (kept + 1) + ": " + changes;
        String about = "message " + row.message().id() + ": " + detail;
        audit.write(connection, new AuditRows.Entry(row.number(), row.key(), "EDIT", actor, reason, about));
        return done(row, detail);
    }

    @SuppressWarnings("ArrayRecordComponent") // compared by hand
    private record Bytes(byte[] head, byte[] payload) {}

    private Bytes bytes(Connection connection, long id) throws SQLException {
        try (PreparedStatement statement = read.prepare(connection, Map.of("id", NamedSql.Parameter.of(id)));
                ResultSet row = statement.executeQuery()) {
            if (!row.next()) {
                throw new SQLException("A message that was locked is gone", "40001");
            }
            return new Bytes(row.getBytes(1), row.getBytes(2));
        }
    }

    private void write(Connection connection, InboxRow row, byte[] head, byte[] payload) throws SQLException {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("id", NamedSql.Parameter.of(row.message().id()));
        values.put("fence", NamedSql.Parameter.of(row.fence()));
        values.put("head", NamedSql.Parameter.of(head));
        values.put("payload", NamedSql.Parameter.of(payload));
        try (PreparedStatement statement = write.prepare(connection, values)) {
            if (statement.executeUpdate() != 1) {
                throw new SQLException("A message that was locked could not be edited", "40001");
            }
        }
    }

    private static InboxAnswer not(InboxRow row, InboxAnswer.Result result, String why) {
        return InboxAnswer.not(row.message().id(), result, row.message().state(), why);
    }

    private static InboxAnswer done(InboxRow row, String what) {
        return InboxAnswer.not(
                row.message().id(), InboxAnswer.Result.CHANGED, row.message().state(), what);
    }
}
