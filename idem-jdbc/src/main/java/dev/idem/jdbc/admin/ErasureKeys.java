package dev.idem.jdbc.admin;

import dev.idem.Message;
import dev.idem.jdbc.internal.marker.KnownConsumer;
import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.StoredText;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Uuids;
import dev.idem.spi.Envelope;
import dev.idem.spi.MarkerKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Finds everything that belongs to a message that is to be erased. Stateless. */
final class ErasureKeys {
    private static final String SELECT = "SELECT consumer, message_key, readable, id, head FROM ";
    private static final String MARKERS = "SELECT consumer, message_key, readable, 0, NULL FROM ${marker}";

    /** Where rows have both a number and a key. */
    private static final List<String> NUMBERED = List.of("${queue}", "${archive}");

    private final Tables tables;
    private final Dialect dialect;

    ErasureKeys(Tables tables) {
        this.tables = tables;
        dialect = tables.dialect();
    }

    /** A key as the tables have it. */
    record Key(UUID value, @Nullable String readable) {
        /** What stays of the readable text. */
        @Nullable
        String erased() {
            return readable == null ? null : MarkerKey.erased(readable);
        }

        /** As lists show it, without the session that has brought it. */
        String id() {
            if (readable == null) {
                return value.toString();
            }
            int session = readable.lastIndexOf(MarkerKey.SESSION);
            return session < 0 ? readable : readable.substring(0, session);
        }

        /** How the readable texts of its copies in replay sessions begin. */
        private String copies() {
            return id() + MarkerKey.SESSION;
        }
    }

    /**
     * What there is of a message.
     *
     * @param consumer its number
     * @param numbers those it has, or had, in the queue
     * @param ids its own, as far as they are known, by which other messages may name it
     */
    record Found(int consumer, Set<Key> keys, Set<Long> numbers, Set<String> ids) {}

    /**
     * By its number; also one that has left the queue, if anything with that number is left. Reads as much as by its id, for
     * the copies that sessions have made.
     */
    Optional<Found> of(Connection connection, long id) throws SQLException {
        Map<String, NamedSql.Parameter> values = Map.of("id", NamedSql.Parameter.of(id));
        for (String table : NUMBERED) {
            List<Row> rows = rows(connection, SELECT + table + " WHERE id = :id", values);
            if (!rows.isEmpty()) {
                return Optional.of(withCopies(connection, rows.get(0).consumer, rows));
            }
        }
        try (PreparedStatement statement = new NamedSql(
                                tables.fill("SELECT consumer FROM ${attempt} WHERE queue_id = :id UNION"
                                        + " SELECT consumer FROM ${revision} WHERE queue_id = :id"))
                        .prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            return row.next()
                    ? Optional.of(new Found(row.getInt(1), Set.of(), Set.of(id), Set.of()))
                    : Optional.empty();
        }
    }

    /** By the id that lists show. Reads the whole queue, the archive, and all markers of the consumer. */
    Optional<Found> of(Connection connection, String consumer, String messageId) throws SQLException {
        Optional<Integer> number = KnownConsumer.number(connection, tables, consumer);
        if (number.isEmpty()) {
            return Optional.empty();
        }
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(number.get()));
        values.put("name", NamedSql.Parameter.of(StoredText.storable(messageId)));
        values.put("erased", NamedSql.Parameter.of(MarkerKey.erased(messageId)));
        values.put("copies", NamedSql.Parameter.of(beginning(StoredText.storable(messageId) + MarkerKey.SESSION)));
        Optional<UUID> uuid = Uuids.canonical(messageId);
        uuid.ifPresent(key -> values.put("key", dialect.key().apply(key)));
        String where = " WHERE consumer = :consumer AND (readable = :name OR readable = :erased"
                + " OR readable LIKE :copies ESCAPE '!'"
                + (uuid.isPresent() ? " OR message_key = :key)" : ")");
        List<Row> rows = numbered(connection, where, values);
        rows.addAll(rows(connection, MARKERS + where, values));
        return rows.isEmpty() ? Optional.empty() : Optional.of(withCopies(connection, number.get(), rows));
    }

    private Found withCopies(Connection connection, int consumer, Collection<Row> rows) throws SQLException {
        Set<Key> keys = new LinkedHashSet<>();
        Set<Long> numbers = new TreeSet<>();
        List<Row> all = new ArrayList<>(rows);
        rows.forEach(row -> row.into(keys, numbers));
        for (Key key : List.copyOf(keys)) {
            Map<String, NamedSql.Parameter> values = Map.of(
                    "consumer", NamedSql.Parameter.of(consumer),
                    "key", dialect.key().apply(key.value),
                    "copies", NamedSql.Parameter.of(beginning(key.copies())));
            String where = " WHERE consumer = :consumer AND (message_key = :key OR readable LIKE :copies ESCAPE '!')";
            List<Row> copies = numbered(connection, where, values);
            copies.addAll(rows(connection, MARKERS + where, values));
            copies.forEach(row -> row.into(keys, numbers));
            all.addAll(copies);
        }
        Set<String> ids = new TreeSet<>();
        all.forEach(row -> row.id().ifPresent(ids::add));
        return new Found(consumer, keys, numbers, ids);
    }

    private static String beginning(String text) {
        return text.replaceAll("[!%_]", "!$0") + "%";
    }

    private List<Row> numbered(Connection connection, String where, Map<String, NamedSql.Parameter> values)
            throws SQLException {
        List<Row> rows = new ArrayList<>();
        for (String table : NUMBERED) {
            rows.addAll(rows(connection, SELECT + table + where, values));
        }
        return rows;
    }

    /** Those of it that are in the queue, in their order. */
    List<Long> waiting(Connection connection, Found found) throws SQLException {
        List<Long> ids = new ArrayList<>();
        for (Key key : found.keys) {
            Map<String, NamedSql.Parameter> values = Map.of(
                    "consumer", NamedSql.Parameter.of(found.consumer),
                    "key", dialect.key().apply(key.value));
            rows(connection, SELECT + "${queue} WHERE consumer = :consumer AND message_key = :key ORDER BY id", values)
                    .forEach(row -> ids.add(row.number));
        }
        return ids;
    }

    /** @param known another key, under which its effects are in the ledger */
    private record Row(int consumer, Key key, long number, Optional<String> id, Optional<Key> known) {
        private void into(Set<Key> keys, Set<Long> numbers) {
            keys.add(key);
            known.ifPresent(keys::add);
            if (number != 0) {
                numbers.add(number);
            }
        }
    }

    /** @param head null in a marker, which has only the key */
    private static Optional<Message> message(byte @Nullable [] head) {
        if (head == null || head.length == 0) {
            return Optional.empty();
        }
        try {
            return Optional.of(Envelope.message(head, new byte[0]));
        } catch (IllegalArgumentException unreadable) {
            return Optional.empty();
        }
    }

    private List<Row> rows(Connection connection, String sql, Map<String, NamedSql.Parameter> values)
            throws SQLException {
        List<Row> found = new ArrayList<>();
        try (PreparedStatement statement = new NamedSql(tables.fill(sql)).prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                Key key = new Key(dialect.keyOf().read(row, 2), row.getString(3));
                Optional<Message> message = message(row.getBytes(5));
                found.add(new Row(
                        row.getInt(1),
                        key,
                        row.getLong(4),
                        message.map(Message::id).orElseGet(() -> ErasureIds.ofReadable(key.id())),
                        message.flatMap(Message::markedAs).map(as -> new Key(as.value(), as.readable()))));
            }
        }
        return found;
    }
}
