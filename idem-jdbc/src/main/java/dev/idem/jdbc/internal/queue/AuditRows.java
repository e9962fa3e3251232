package dev.idem.jdbc.internal.queue;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.Tables;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Writes down what a person did and why, in the transaction that does it: the only place that does. Stateless. */
public final class AuditRows {
    private final Dialect dialect;
    private final NamedSql insert;

    public AuditRows(Tables tables) {
        dialect = tables.dialect();
        insert = new NamedSql(
                tables.fill("INSERT INTO ${audit} (at, consumer, message_key, action, actor, reason, detail)"
                        + " VALUES (" + QueueSql.of(dialect.database()).now()
                        + ", :consumer, :key, :action, :actor, :reason, :detail)"));
    }

    /**
     * What was done.
     *
     * @param consumer its number
     * @param key of the message, if it was one message
     * @param detail to what, without values of any message
     */
    public record Entry(int consumer, @Nullable UUID key, String action, String actor, String reason, String detail) {}

    public void write(Connection connection, Entry entry) throws SQLException {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        UUID key = entry.key;
        values.put("consumer", NamedSql.Parameter.of(entry.consumer));
        values.put(
                "key",
                key == null
                        ? (statement, index) -> statement.setObject(index, null)
                        : dialect.key().apply(key));
        values.put("action", NamedSql.Parameter.of(entry.action));
        values.put("actor", NamedSql.Parameter.of(entry.actor));
        values.put("reason", NamedSql.Parameter.of(entry.reason));
        values.put("detail", NamedSql.Parameter.of(entry.detail));
        try (PreparedStatement statement = insert.prepare(connection, values)) {
            statement.executeUpdate();
        }
    }
}
