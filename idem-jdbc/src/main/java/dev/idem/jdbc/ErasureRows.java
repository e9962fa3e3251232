package dev.idem.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Empties the rows of a message: every column in which something of the message itself can stand. Where a row must stay as
 * evidence, its bytes become none; a head without bytes is how readers know. Stateless.
 */
final class ErasureRows {
    private static final String KEYED = " WHERE consumer = :consumer AND message_key = :key";
    private static final String NUMBERED = " WHERE queue_id = :id";

    private final Tables tables;

    ErasureRows(Tables tables) {
        this.tables = tables;
    }

    /**
     * One place where something can be.
     *
     * @param what for people
     * @param change ends before its condition
     * @param where finds only what is not erased yet
     */
    private record Place(String what, String change, String table, String where) {}

    private static final Place[] BY_KEY = {
        new Place(
                "the stored message",
                "UPDATE ${queue} SET head = :none, payload = :none, readable = :readable, ordering_key = NULL,"
                        + " error = NULL, reason = '" + InboxErasure.REASON + "', fence = fence + 1",
                "${queue}",
                KEYED + " AND OCTET_LENGTH(head) > 0"),
        new Place(
                "the kept copy",
                "UPDATE ${archive} SET head = :none, payload = :none, readable = :readable",
                "${archive}",
                KEYED + " AND OCTET_LENGTH(head) > 0"),
        new Place("the result", "DELETE FROM ${result}", "${result}", KEYED),
        new Place(
                "results of steps",
                "UPDATE ${step} SET result = NULL, codec = NULL",
                "${step}",
                KEYED + " AND result IS NOT NULL"),
        new Place(
                "the readable key",
                "UPDATE ${marker} SET readable = :readable",
                "${marker}",
                KEYED + " AND readable <> :readable")
    };

    private static final Place[] BY_NUMBER = {
        new Place(
                "error texts",
                "UPDATE ${attempt} SET error = :none",
                "${attempt}",
                NUMBERED + " AND OCTET_LENGTH(error) > 0"),
        new Place("revisions", "DELETE FROM ${revision}", "${revision}", NUMBERED)
    };

    /** Says what was erased, without any of it; nothing if there was nothing. */
    String erase(Connection connection, ErasureKeys.Found found, boolean dryRun) throws SQLException {
        Map<String, Long> sums = new LinkedHashMap<>();
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(found.consumer()));
        values.put("none", NamedSql.Parameter.of(new byte[0]));
        for (ErasureKeys.Key key : found.keys()) {
            values.put("key", tables.dialect().key().apply(key.value()));
            values.put("readable", NamedSql.Parameter.of(key.erased()));
            for (Place place : BY_KEY) {
                sums.merge(place.what, count(connection, place, values, dryRun), Long::sum);
            }
        }
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

    private long count(Connection connection, Place place, Map<String, NamedSql.Parameter> values, boolean dryRun)
            throws SQLException {
        String sql = dryRun ? "SELECT count(*) FROM " + place.table + place.where : place.change + place.where;
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
