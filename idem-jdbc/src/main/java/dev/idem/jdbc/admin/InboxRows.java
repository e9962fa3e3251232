package dev.idem.jdbc.admin;

import dev.idem.jdbc.internal.marker.KnownConsumer;
import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.Hashes;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.StoredText;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Uuids;
import dev.idem.queue.QueueState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Finds rows of the queue for an operator. Stateless. */
final class InboxRows {
    /** What stands with a backslash in the text beside a key. */
    private static final Pattern ESCAPED = Pattern.compile("[/=\\\\]");

    private final Tables tables;
    private final Dialect dialect;
    private final String select;
    private final String now;

    InboxRows(Tables tables) {
        this.tables = tables;
        dialect = tables.dialect();
        now = QueueSql.of(dialect.database()).now();
        select = "SELECT " + InboxRow.COLUMNS + ", " + now + " FROM ${queue} q WHERE ";
    }

    /** Those behind a number, the oldest or the newest first. */
    List<InboxRow> page(Connection connection, InboxFilter filter, boolean newest, int limit, long after)
            throws SQLException {
        Map<Integer, String> names = KnownConsumer.names(connection, tables);
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        StringBuilder where = new StringBuilder(newest ? "q.id < :after" : "q.id > :after");
        values.put("after", NamedSql.Parameter.of(after));
        if (filter.consumer().isPresent()) {
            Optional<Integer> number = number(names, filter.consumer().get());
            if (number.isEmpty()) {
                return List.of();
            }
            where.append(" AND q.consumer = :consumer");
            values.put("consumer", NamedSql.Parameter.of(number.get()));
        }
        where.append(statesIn(filter.states()));
        equal(where, values, "message_type", "type", filter.type());
        equal(where, values, "reason", "reason", filter.reason());
        filter.orderingKey().ifPresent(key -> {
            where.append(" AND (q.order_key = :order OR (q.order_key IS NULL AND q.ordering_key = :ordering))");
            values.put("order", dialect.key().apply(Hashes.uuid(key)));
            values.put("ordering", NamedSql.Parameter.of(StoredText.storable(key)));
        });
        filter.olderThan().ifPresent(age -> {
            where.append(" AND q.stored_at < ").append(now).append(" - :age");
            values.put("age", NamedSql.Parameter.of(Micros.of(age)));
        });
        where.append(" ORDER BY q.id ").append(newest ? "DESC" : "ASC").append(" LIMIT :limit");
        values.put("limit", NamedSql.Parameter.of(limit));
        return query(connection, names, select + where, values);
    }

    private static void equal(
            StringBuilder where,
            Map<String, NamedSql.Parameter> values,
            String column,
            String name,
            Optional<String> value) {
        value.ifPresent(text -> {
            where.append(" AND q.").append(column).append(" = :").append(name);
            values.put(name, NamedSql.Parameter.of(StoredText.storable(text)));
        });
    }

    private static String statesIn(Set<QueueState> states) {
        return states.isEmpty()
                ? ""
                : states.stream()
                        .map(QueueState::code)
                        .sorted()
                        .map(String::valueOf)
                        .collect(Collectors.joining(", ", " AND q.status IN (", ")"));
    }

    private static Optional<Integer> number(Map<Integer, String> names, String consumer) {
        return names.entrySet().stream()
                .filter(entry -> entry.getValue().equals(consumer))
                .map(Map.Entry::getKey)
                .findFirst();
    }

    /** These messages, in the order of receipt, without a lock. */
    List<InboxRow> read(Connection connection, Collection<Long> ids) throws SQLException {
        return in(connection, ids, "");
    }

    /** Those of these messages that nobody else has locked; they are locked now. */
    List<InboxRow> lock(Connection connection, Collection<Long> ids) throws SQLException {
        return in(connection, ids, " FOR UPDATE SKIP LOCKED");
    }

    private List<InboxRow> in(Connection connection, Collection<Long> ids, String lock) throws SQLException {
        String list = ids.stream().sorted().map(String::valueOf).collect(Collectors.joining(", "));
        return ids.isEmpty()
                ? List.of()
                : query(
                        connection,
                        KnownConsumer.names(connection, tables),
                        select + "q.id IN (" + list + ") ORDER BY q.id" + lock,
                        Map.of());
    }

    /** The messages of a consumer that a person calls by this name, or by this id: at most one, unless names collide. */
    List<InboxRow> named(Connection connection, String consumer, String messageId) throws SQLException {
        Map<Integer, String> names = KnownConsumer.names(connection, tables);
        Optional<Integer> number = number(names, consumer);
        if (number.isEmpty()) {
            return List.of();
        }
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(number.get()));
        values.put("name", NamedSql.Parameter.of(StoredText.storable(messageId)));
        Optional<java.util.UUID> uuid = Uuids.canonical(messageId);
        uuid.ifPresent(key -> values.put("key", dialect.key().apply(key)));
        List<InboxRow> exact = query(
                connection,
                names,
                select + "q.consumer = :consumer AND "
                        + (uuid.isPresent() ? "(q.message_key = :key OR q.readable = :name)" : "q.readable = :name"),
                values);
        return exact.isEmpty() ? ofOneSource(connection, names, number.get(), messageId) : exact;
    }

    /** The message that has this id beside a source, if no second source uses it. */
    private List<InboxRow> ofOneSource(
            Connection connection, Map<Integer, String> names, int consumer, String messageId) throws SQLException {
        if (messageId.isEmpty() || ESCAPED.matcher(messageId).find()) {
            return List.of();
        }
        String end = "/id=" + StoredText.storable(messageId);
        List<InboxRow> found = query(
                connection,
                names,
                select + "q.consumer = :consumer AND q.readable LIKE 'source=%' AND RIGHT(q.readable, " + end.length()
                        + ") = :name",
                Map.of("consumer", NamedSql.Parameter.of(consumer), "name", NamedSql.Parameter.of(end)));
        return found.size() == 1 ? found : List.of();
    }

    private List<InboxRow> query(
            Connection connection, Map<Integer, String> names, String sql, Map<String, NamedSql.Parameter> values)
            throws SQLException {
        List<InboxRow> found = new ArrayList<>();
        try (PreparedStatement statement = new NamedSql(tables.fill(sql)).prepare(connection, values);
                ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                int number = rows.getInt(2);
                found.add(InboxRow.of(rows, names.getOrDefault(number, "#" + number), dialect));
            }
        }
        return found;
    }
}
