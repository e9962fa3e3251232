package dev.idem.jdbc.admin;

import dev.idem.Message;
import dev.idem.jdbc.internal.queue.StepTable;
import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.spi.Envelope;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads what one message has lived through. Stateless. */
final class InboxHistory {
    private static final int SHOWN = 100;

    private final Dialect dialect;
    private final NamedSql head;
    private final NamedSql payload;
    private final NamedSql attempts;
    private final NamedSql audit;
    private final StepTable steps;

    InboxHistory(Tables tables) {
        steps = new StepTable(tables);
        dialect = tables.dialect();
        head = new NamedSql(tables.fill("SELECT head FROM ${queue} WHERE id = :id"));
        payload = new NamedSql(tables.fill("SELECT payload FROM ${queue} WHERE id = :id"));
        attempts = new NamedSql(tables.fill("SELECT failed_at, took, worker, reason, error_type, error FROM ${attempt}"
                + " WHERE queue_id = :id ORDER BY id DESC LIMIT " + SHOWN));
        audit = new NamedSql(tables.fill("SELECT at, action, actor, reason, detail FROM ${audit}"
                + " WHERE consumer = :consumer AND message_key = :key ORDER BY id DESC LIMIT " + SHOWN));
    }

    InboxMessage.Detail of(Connection connection, InboxRow row) throws SQLException {
        Optional<Message> message = Optional.empty();
        Optional<String> unreadable = Optional.empty();
        try {
            message = row.isErased()
                    ? Optional.empty()
                    : bytes(connection, head, row.message().id()).map(head -> Envelope.message(head, new byte[0]));
        } catch (IllegalArgumentException | NegativeArraySizeException strange) {
            unreadable = Optional.of(String.valueOf(strange.getMessage()));
        }
        return new InboxMessage.Detail(
                row.message(),
                message.flatMap(Message::source),
                message.flatMap(Message::contentType),
                message.flatMap(Message::eventTime),
                message.map(InboxHistory::headers).orElse(List.of()),
                unreadable,
                attempts(connection, row),
                audit(connection, row),
                steps(connection, row));
    }

    private List<InboxMessage.Step> steps(Connection connection, InboxRow row) throws SQLException {
        return steps.read(connection, row.number(), row.key()).stream()
                .map(step -> new InboxMessage.Step(
                        step.name(), step.kind(), step.state(), Optional.ofNullable(step.effectKey())))
                .toList();
    }

    private static List<InboxMessage.Header> headers(Message message) {
        return message.headers().stream()
                .map(header -> new InboxMessage.Header(header.name(), header.value().length))
                .toList();
    }

    Optional<byte[]> payload(Connection connection, long id) throws SQLException {
        return bytes(connection, payload, id);
    }

    private static Optional<byte[]> bytes(Connection connection, NamedSql sql, long id) throws SQLException {
        try (PreparedStatement statement = sql.prepare(connection, Map.of("id", NamedSql.Parameter.of(id)));
                ResultSet row = statement.executeQuery()) {
            return row.next() ? Optional.of(row.getBytes(1)) : Optional.empty();
        }
    }

    private List<InboxMessage.Attempt> attempts(Connection connection, InboxRow row) throws SQLException {
        List<InboxMessage.Attempt> found = new ArrayList<>();
        Map<String, NamedSql.Parameter> values =
                Map.of("id", NamedSql.Parameter.of(row.message().id()));
        try (PreparedStatement statement = attempts.prepare(connection, values);
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                found.add(new InboxMessage.Attempt(
                        Micros.instant(rows.getLong(1)),
                        Micros.duration(rows.getLong(2)),
                        rows.getString(3),
                        rows.getString(4),
                        rows.getString(5),
                        InboxRow.text(rows.getBytes(6))));
            }
        }
        Collections.reverse(found);
        return List.copyOf(found);
    }

    private List<InboxMessage.Audit> audit(Connection connection, InboxRow row) throws SQLException {
        List<InboxMessage.Audit> found = new ArrayList<>();
        Map<String, NamedSql.Parameter> values = Map.of(
                "consumer", NamedSql.Parameter.of(row.number()),
                "key", dialect.key().apply(row.key()));
        try (PreparedStatement statement = audit.prepare(connection, values);
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                String detail = rows.getString(5);
                found.add(new InboxMessage.Audit(
                        Micros.instant(rows.getLong(1)),
                        rows.getString(2),
                        rows.getString(3),
                        rows.getString(4),
                        detail == null ? "" : detail));
            }
        }
        Collections.reverse(found);
        return List.copyOf(found);
    }
}
