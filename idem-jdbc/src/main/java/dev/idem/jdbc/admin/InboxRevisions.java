package dev.idem.jdbc.admin;

import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.Tables;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What messages were before they were edited. Stateless. */
final class InboxRevisions {
    private final NamedSql list;
    private final NamedSql payload;
    private final NamedSql insert;

    InboxRevisions(Tables tables) {
        list = new NamedSql(tables.fill("SELECT number, edited_at, actor, reason, changes, OCTET_LENGTH(payload)"
                + " FROM ${revision} WHERE queue_id = :id ORDER BY number"));
        payload =
                new NamedSql(tables.fill("SELECT payload FROM ${revision} WHERE queue_id = :id AND number = :number"));
        insert = new NamedSql(tables.fill("INSERT INTO ${revision} (queue_id, number, consumer, edited_at, actor,"
                + " reason, changes, head, payload) SELECT id, :number, consumer, "
                + QueueSql.of(tables.dialect().database()).now()
                + ", :actor, :reason, :changes, head, payload FROM ${queue} WHERE id = :id"));
    }

    List<InboxRevision> of(Connection connection, long id) throws SQLException {
        List<InboxRevision> found = new ArrayList<>();
        try (PreparedStatement statement = list.prepare(connection, Map.of("id", NamedSql.Parameter.of(id)));
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                found.add(new InboxRevision(
                        row.getInt(1),
                        Micros.instant(row.getLong(2)),
                        row.getString(3),
                        row.getString(4),
                        row.getString(5),
                        row.getLong(6)));
            }
        }
        return List.copyOf(found);
    }

    Optional<byte[]> payload(Connection connection, long id, int number) throws SQLException {
        Map<String, NamedSql.Parameter> values =
                Map.of("id", NamedSql.Parameter.of(id), "number", NamedSql.Parameter.of(number));
        try (PreparedStatement statement = payload.prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            return row.next() ? Optional.of(row.getBytes(1)) : Optional.empty();
        }
    }

    /** Keeps the message as it is now; answers its number. */
    int keep(Connection connection, long id, String actor, String reason, String changes) throws SQLException {
        int number = of(connection, id).size() + 1;
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("id", NamedSql.Parameter.of(id));
        values.put("number", (s, i) -> s.setInt(i, number));
        values.put("actor", NamedSql.Parameter.of(actor));
        values.put("reason", NamedSql.Parameter.of(reason));
        values.put("changes", NamedSql.Parameter.of(changes));
        try (PreparedStatement statement = insert.prepare(connection, values)) {
            if (statement.executeUpdate() != 1) {
                throw new SQLException("A message that was locked is gone", "40001");
            }
        }
        return number;
    }
}
