package dev.idem.jdbc;

import dev.idem.IdemException;
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
import javax.sql.DataSource;

/** What people did to the messages of a store, and why. Thread-safe. */
public final class JdbcAudit implements Audit {
    private static final int MOST = 1_000;

    private final DataSource dataSource;
    private final Tables tables;
    private final InboxRows rows;
    private final NamedSql insert;
    private final NamedSql newest;

    private JdbcAudit(JdbcSchema schema) {
        dataSource = schema.dataSource();
        tables = schema.tables();
        rows = new InboxRows(tables);
        insert = new NamedSql(tables.fill("INSERT INTO ${audit} (at, consumer, action, actor, reason, detail) VALUES ("
                + QueueSql.of(tables.dialect().database()).now()
                + ", :consumer, :action, :actor, :reason, :detail)"));
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
        try (Connection connection = dataSource.getConnection()) {
            Transactions.alone(connection, () -> insert(connection, consumer, action, actor, reason, detail));
        } catch (SQLException failure) {
            throw JdbcInbox.failed("write the audit", tables, failure);
        }
    }

    private int insert(
            Connection connection, String consumer, String action, String actor, String reason, String detail)
            throws SQLException {
        int number = rows.names(connection).entrySet().stream()
                .filter(known -> known.getValue().equals(consumer))
                .findFirst()
                .orElseThrow(() -> new IdemException(
                        tables + " know no consumer " + consumer + ", so nothing can be written down about it: is this"
                                + " its database?",
                        null))
                .getKey();
        Map<String, NamedSql.Parameter> values = Map.of(
                "consumer", NamedSql.Parameter.of(number),
                "action", NamedSql.Parameter.of(action),
                "actor", NamedSql.Parameter.of(actor),
                "reason", NamedSql.Parameter.of(reason),
                "detail", NamedSql.Parameter.of(detail));
        try (PreparedStatement statement = insert.prepare(connection, values)) {
            return statement.executeUpdate();
        }
    }

    /** The last thousand entries at most, newest first. */
    public List<Entry> newest() {
        try (Connection connection = dataSource.getConnection()) {
            return Transactions.alone(connection, () -> read(connection));
        } catch (SQLException failure) {
            throw JdbcInbox.failed("read the audit", tables, failure);
        }
    }

    private List<Entry> read(Connection connection) throws SQLException {
        Map<Integer, String> names = rows.names(connection);
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
