package dev.idem.jdbc.admin;

import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.queue.QueueState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Empties the rows of a message: every column in which something of the message itself can stand. Where a row must stay as
 * evidence, its bytes become none; a head without bytes is how readers know. Stateless.
 */
final class ErasureRows {
    private static final String KEYED = " WHERE consumer = :consumer AND message_key = :key";
    private static final String NUMBERED = " WHERE queue_id = :id";

    /** In the place of a codec: a handler that asks for such a result hears that it is not there, and gets no null for it. */
    private static final String ERASED = "erased";

    private static final int MOST_QUOTED = 200;

    private final Tables tables;

    ErasureRows(Tables tables) {
        this.tables = tables;
    }

    /**
     * One place where something can be.
     *
     * @param what for people
     * @param change of the rows; null removes them
     * @param where finds only what is not erased yet
     */
    private record Place(
            String what, String table, @Nullable String change, String where) {
        String count() {
            return "SELECT count(*) FROM " + table + where;
        }

        String erase() {
            return change == null ? "DELETE FROM " + table + where : "UPDATE " + table + " SET " + change + where;
        }
    }

    private static final Place[] BY_KEY = {
        new Place(
                "the stored message",
                "${queue}",
                "head = :none, payload = :none, readable = :readable, ordering_key = NULL, error = NULL, reason = '"
                        + InboxErasure.REASON + "', fence = fence + 1",
                KEYED + " AND OCTET_LENGTH(head) > 0 AND (status = " + QueueState.FAILED_TERMINAL.code()
                        + " OR :dry = 1)"), // it was given up just now
        new Place(
                "the kept copy",
                "${archive}",
                "head = :none, payload = :none, readable = :readable",
                KEYED + " AND OCTET_LENGTH(head) > 0"),
        new Place("the result", "${result}", null, KEYED),
        new Place(
                "results of steps",
                "${step}",
                "result = :none, codec = '" + ERASED + "'",
                KEYED + " AND result IS NOT NULL AND codec <> '" + ERASED + "'"),
        new Place("the readable key", "${marker}", "readable = :readable", KEYED + " AND readable <> :readable"),
        new Place(
                "what replay sessions say of it",
                "${replay}",
                "error = '" + ERASED + "'",
                " WHERE consumer = :consumer AND error LIKE :said ESCAPE '!' AND error <> '" + ERASED + "'"
                        // Most name one message, in front; others may begin as this one does.
                        + " AND (error NOT LIKE 'message %' OR error LIKE :named ESCAPE '!')")
    };

    private static final Place[] BY_NUMBER = {
        new Place("error texts", "${attempt}", "error = :none", NUMBERED + " AND OCTET_LENGTH(error) > 0"),
        new Place("revisions", "${revision}", null, NUMBERED)
    };

    /** Says what was erased, without any of it; nothing if there was nothing. */
    String erase(Connection connection, ErasureKeys.Found found, boolean dryRun) throws SQLException {
        Map<String, Long> sums = new LinkedHashMap<>();
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(found.consumer()));
        values.put("none", NamedSql.Parameter.of(new byte[0]));
        values.put("dry", NamedSql.Parameter.of(dryRun ? 1 : 0));
        for (ErasureKeys.Key key : found.keys()) {
            values.put("key", tables.dialect().key().apply(key.value()));
            values.put("readable", NamedSql.Parameter.of(key.erased()));
            String quoted = beginningOf(key.id());
            String pattern = quoted.replaceAll("[!%_]", "!$0");
            values.put("said", NamedSql.Parameter.of("%" + pattern + "%"));
            String end = quoted.equals(key.id()) ? ": %" : "%";
            values.put("named", NamedSql.Parameter.of("message " + pattern + end));
            for (Place place : BY_KEY) {
                sums.merge(place.what, count(connection, place, values, dryRun), Long::sum);
            }
        }
        sums.merge(
                "causes of what is to be published",
                new ErasureIds(tables).erase(connection, found.ids(), dryRun),
                Long::sum);
        for (long number : found.numbers()) {
            values.put("id", NamedSql.Parameter.of(number));
            for (Place place : BY_NUMBER) {
                sums.merge(place.what, count(connection, place, values, dryRun), Long::sum);
            }
        }
        return sums.entrySet().stream()
                .filter(sum -> sum.getValue() > 0)
                .map(sum -> sum.getKey() + " (" + sum.getValue() + ")")
                .collect(Collectors.joining(", "));
    }

    /** As much of an id as messages for people quote. */
    private static String beginningOf(String id) {
        return id.substring(0, id.offsetByCodePoints(0, Math.min(MOST_QUOTED, id.codePointCount(0, id.length()))));
    }

    private long count(Connection connection, Place place, Map<String, NamedSql.Parameter> values, boolean dryRun)
            throws SQLException {
        String sql = dryRun ? place.count() : place.erase();
        try (PreparedStatement statement = new NamedSql(tables.fill(sql)).prepare(connection, values)) {
            if (!dryRun) {
                return statement.executeUpdate();
            }
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }
}
