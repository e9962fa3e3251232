package dev.idem.jdbc.admin;

import dev.idem.IdemException;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.internal.marker.KnownConsumer;
import dev.idem.jdbc.internal.queue.AuditRows;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.ShortTransactions;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.spi.Audit;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** What people did to the messages of a store, and why. Thread-safe. */
public final class JdbcAudit implements Audit {
    private static final int MOST = 1_000;

    private final Tables tables;
    private final AuditRows entries;
    private final ShortTransactions transactions;
    private final NamedSql newest;

    private JdbcAudit(JdbcSchema schema) {
        tables = SchemaTables.of(schema);
        entries = new AuditRows(tables);
        transactions = new ShortTransactions(schema.dataSource(), tables);
        newest = new NamedSql(tables.fill(
                "SELECT at, consumer, action, actor, reason, detail FROM ${audit} ORDER BY id DESC LIMIT " + MOST));
    }

    public static JdbcAudit of(JdbcSchema schema) {
        return new JdbcAudit(schema);
    }

    /** One thing that somebody did. */
    public record Entry(Instant at, String consumer, String action, String actor, String reason, String detail) {}

    /**
     * Writes one entry, in a transaction of its own.
     *
     * @throws IdemException if these tables do not know the consumer
     */
    @Override
    public void record(String consumer, String action, String actor, String reason, String detail) {
        transactions.once("write the audit", connection -> {
            int number = number(connection, consumer);
            entries.write(connection, new AuditRows.Entry(number, null, action, actor, reason, detail));
            return number;
        });
    }

    private int number(Connection connection, String consumer) throws SQLException {
        return KnownConsumer.number(connection, tables, consumer)
                .orElseThrow(() -> new IdemException(
                        tables + " know no consumer " + consumer + ", so nothing can be written down about it: is this"
                                + " its database?",
                        null));
    }

    /** The last thousand entries at most, newest first. */
    public List<Entry> newest() {
        return transactions.once("read the audit", this::read);
    }

    private List<Entry> read(Connection connection) throws SQLException {
        Map<Integer, String> names = KnownConsumer.names(connection, tables);
        List<Entry> entries = new ArrayList<>();
        try (PreparedStatement statement = newest.prepare(connection, Map.of());
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                String detail = row.getString(6);
                entries.add(new Entry(
                        Micros.instant(row.getLong(1)),
                        names.getOrDefault(row.getInt(2), "number " + row.getInt(2)),
                        row.getString(3),
                        row.getString(4),
                        row.getString(5),
                        detail == null ? "" : detail));
            }
        }
        return Collections.unmodifiableList(entries);
    }
}
