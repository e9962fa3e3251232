package dev.idem.jdbc.internal.marker;

import dev.idem.StoreException;
import dev.idem.jdbc.internal.sql.Check;
import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Notices that markers are gone which nobody has removed: whenever a window is declared, one marker of the consumer is
 * written down beside it, and must be there the next time. A sweep that removes it takes the note away in the same
 * transaction, and so does a partition that is dropped. So the note is never wrong, costs nothing when messages are
 * processed, and needs no marker of its own. On servers it is the one with the highest key, which is the youngest where keys
 * begin with a time. Who deletes a marker by hand clears the note as well: docs/guide.md says how. Stateless.
 */
public final class CanaryMarkers {
    /** Consumers whose note says more than their markers. */
    public static final String MISSING = """
            SELECT c.name, c.number FROM ${retention} r JOIN ${consumer} c ON c.number = r.consumer
            WHERE r.sample_key IS NOT NULL AND NOT EXISTS
              (SELECT 1 FROM ${marker} m WHERE m.consumer = r.consumer AND m.message_key = r.sample_key)
            ORDER BY c.name
            """;

    public static final Check CHECK = Check.error(
            "markers",
            MISSING,
            "Markers are gone that nobody has removed, so what they stood for would be processed again: the table"
                    + " ${marker} was emptied, or restored from an earlier state, or a marker was deleted by hand",
            "Bring the markers back from a backup; or go on without them, with 'idem schema accept-loss' (a test that"
                    + " empties ${marker} empties ${retention} too). See docs/operations.md, 'After a restore'");

    private final Dialect dialect;
    private final NamedSql noted;
    private final NamedSql there;
    private final NamedSql last;
    private final NamedSql note;
    private final Tables tables;

    public CanaryMarkers(Tables tables) {
        this.tables = tables;
        dialect = tables.dialect();
        noted = new NamedSql(tables.fill("SELECT sample_key FROM ${retention} WHERE consumer = :consumer"));
        there = new NamedSql(
                tables.fill("SELECT message_key FROM ${marker} WHERE consumer = :consumer AND message_key = :key"));
        // H2 reads an index forward only, and would sort all markers to find the last one.
        String order = dialect.database() == Database.H2 ? "consumer, message_key" : "consumer DESC, message_key DESC";
        last = new NamedSql(tables.fill(
                "SELECT message_key FROM ${marker} WHERE consumer = :consumer ORDER BY " + order + " LIMIT 1"));
        note = new NamedSql(tables.fill("UPDATE ${retention} SET sample_key = :key WHERE consumer = :consumer"));
    }

    /** Comes first in the transaction, or a look at markers would wait for those that others write, at MariaDB's strictest level. */
    public void isolate(Connection connection) throws SQLException {
        String isolation = QueueSql.of(dialect.database()).isolation();
        if (!isolation.isEmpty()) {
            try (Statement statement = connection.createStatement()) {
                statement.execute(isolation);
            }
        }
    }

    /**
     * Looks for the marker that was noted, and notes another one if there is a better one. In a transaction that has locked
     * the consumer's row.
     *
     * @throws StoreException when it is gone, with what to do about it
     */
    public void renew(Connection connection, String consumer, int number) throws SQLException {
        Map<String, NamedSql.Parameter> values = new HashMap<>();
        values.put("consumer", NamedSql.Parameter.of(number));
        Optional<UUID> before = key(connection, noted, values);
        if (before.isPresent()) {
            values.put("key", dialect.key().apply(before.get()));
            if (key(connection, there, values).isEmpty()) {
                throw new StoreException(
                        "Consumer " + consumer + ": " + tables.fill(CHECK.problem()) + ". "
                                + tables.fill(CHECK.action()),
                        null);
            }
        }
        Optional<UUID> now = key(connection, last, values);
        if (now.isPresent() && !now.equals(before)) {
            values.put("key", dialect.key().apply(now.get()));
            try (PreparedStatement statement = note.prepare(connection, values)) {
                statement.executeUpdate();
            }
        }
    }

    /** Markers were removed in this transaction, of which one may have been noted. */
    void forget(Connection connection, int number) throws SQLException {
        String forget = "UPDATE ${retention} SET sample_key = NULL WHERE consumer = :consumer";
        try (PreparedStatement statement = new NamedSql(tables.fill(forget))
                .prepare(connection, Map.of("consumer", NamedSql.Parameter.of(number)))) {
            statement.executeUpdate();
        }
    }

    private Optional<UUID> key(Connection connection, NamedSql sql, Map<String, NamedSql.Parameter> values)
            throws SQLException {
        try (PreparedStatement statement = sql.prepare(connection, values);
                ResultSet row = statement.executeQuery()) {
            return row.next() && row.getObject(1) != null
                    ? Optional.of(dialect.keyOf().read(row, 1))
                    : Optional.empty();
        }
    }
}
