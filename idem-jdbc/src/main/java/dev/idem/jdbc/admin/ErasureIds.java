package dev.idem.jdbc.admin;

import dev.idem.Header;
import dev.idem.Message;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.queue.Outbox;
import dev.idem.spi.Envelope;
import dev.idem.spi.MarkerKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Erases the id of a message where messages that it has caused name it: what waits to be published, or is kept. The same text
 * stands for the same id everywhere, so that what belongs together is still seen to. Stateless.
 */
final class ErasureIds {
    private static final int TOGETHER = 1_000;
    private static final List<String> HEADERS = List.of(Outbox.CAUSATION_ID, Outbox.CORRELATION_ID);

    private static final Pattern PART = Pattern.compile("(?:\\\\.|[^/\\\\])+", Pattern.DOTALL);
    private static final Pattern LABELLED = Pattern.compile("(?:tenant|source|time)=");
    private static final Pattern ESCAPED = Pattern.compile("\\\\([/=\\\\])");

    private final Tables tables;

    ErasureIds(Tables tables) {
        this.tables = tables;
    }

    /** The id in the text beside a key, if there is one. */
    static Optional<String> ofReadable(String readable) {
        List<String> ids = new ArrayList<>();
        for (Matcher part = PART.matcher(readable); part.find(); ) {
            String id = part.group().startsWith("id=") ? part.group().substring(3) : part.group();
            if (!LABELLED.matcher(id).lookingAt()) {
                ids.add(ESCAPED.matcher(id).replaceAll("$1"));
            }
        }
        return ids.size() == 1 ? Optional.of(ids.get(0)) : Optional.empty();
    }

    /**
     * Where messages of outboxes are.
     *
     * @param number tells several rows of one id apart
     */
    private record Place(String table, String id, String number) {
        private String page() {
            return "SELECT o." + id + ", " + number + ", o.head FROM " + table
                    + " o JOIN ${consumer} c ON c.number = o.consumer WHERE c.name LIKE 'outbox:%' AND o." + id
                    + " >= :after AND (o." + id + " > :after OR " + number + " > :number)"
                    + " AND OCTET_LENGTH(o.head) > 0 ORDER BY 1, 2 LIMIT " + TOGETHER;
        }

        private String one() {
            return " WHERE " + id + " = :after AND " + number.replace("o.", "") + " = :number";
        }
    }

    private static final List<Place> PLACES = List.of(
            new Place("${queue}", "id", "0"),
            new Place("${archive}", "id", "0"),
            new Place("${revision}", "queue_id", "o.number"));

    private static final class Row {
        final long id;
        final int number;
        final byte[] head;

        Row(long id, int number, byte[] head) {
            this.id = id;
            this.number = number;
            this.head = head;
        }
    }

    /** How many messages have named it. */
    long erase(Connection connection, Set<String> ids, boolean dryRun) throws SQLException {
        long changed = 0;
        for (Place place : PLACES) {
            NamedSql page = new NamedSql(tables.fill(place.page()));
            List<Row> rows = rows(connection, page, Long.MIN_VALUE, 0);
            while (!rows.isEmpty()) {
                for (Row row : rows) {
                    if (erased(row.head, ids).isPresent()) {
                        changed += dryRun ? 1 : erase(connection, place, row, ids);
                    }
                }
                Row last = rows.get(rows.size() - 1);
                rows = rows(connection, page, last.id, last.number);
            }
        }
        return changed;
    }

    /** As it is now, once it is locked: somebody may have edited it since it was read, or it may be gone. */
    private int erase(Connection connection, Place place, Row read, Set<String> ids) throws SQLException {
        NamedSql lock = new NamedSql(tables.fill("SELECT " + place.id + ", " + place.number.replace("o.", "")
                + ", head FROM " + place.table + place.one() + " FOR UPDATE"));
        NamedSql write = new NamedSql(tables.fill("UPDATE " + place.table + " SET head = :head" + place.one()));
        for (Row locked : rows(connection, lock, read.id, read.number)) {
            Optional<byte[]> erased = erased(locked.head, ids);
            if (erased.isPresent()) {
                Map<String, NamedSql.Parameter> values = new HashMap<>(place(locked.id, locked.number));
                values.put("head", NamedSql.Parameter.of(erased.get()));
                try (PreparedStatement statement = write.prepare(connection, values)) {
                    return statement.executeUpdate();
                }
            }
        }
        return 0;
    }

    private static Optional<byte[]> erased(byte[] head, Set<String> ids) {
        Message message;
        try {
            message = Envelope.message(head, new byte[0]);
        } catch (IllegalArgumentException unreadable) {
            return Optional.empty();
        }
        List<Header> headers = message.headers().stream()
                .map(header -> names(header, ids) ? new Header(header.name(), MarkerKey.erased(header.text())) : header)
                .toList();
        return headers.equals(message.headers())
                ? Optional.empty()
                : Optional.of(Envelope.of(message.toBuilder()
                        .withHeaders(headers)
                        .markedAs(message.markedAs().orElse(null))
                        .build()));
    }

    private static boolean names(Header header, Set<String> ids) {
        return HEADERS.contains(header.name()) && ids.contains(header.text());
    }

    private static List<Row> rows(Connection connection, NamedSql read, long id, int number) throws SQLException {
        List<Row> found = new ArrayList<>();
        try (PreparedStatement statement = read.prepare(connection, place(id, number));
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                found.add(new Row(row.getLong(1), row.getInt(2), row.getBytes(3)));
            }
        }
        return found;
    }

    private static Map<String, NamedSql.Parameter> place(long id, int number) {
        return Map.of("after", NamedSql.Parameter.of(id), "number", NamedSql.Parameter.of(number));
    }
}
