package dev.idem.jdbc.admin;

import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.internal.marker.CanaryMarkers;
import dev.idem.jdbc.internal.queue.AuditRows;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.ShortTransactions;
import dev.idem.jdbc.internal.sql.Tables;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/**
 * Goes on with tables that are not what they were: restored from a backup, emptied, or created anew. Stores and listeners
 * refuse to, until the offsets were reset or a person has said here that the loss is accepted. Thread-safe.
 */
public final class JdbcRecovery {
    /** Stands in the audit for no consumer in particular. */
    private static final int STORE = 0;

    private final DataSource dataSource;
    private final Tables tables;
    private final AuditRows audit;
    private final String now;

    private JdbcRecovery(DataSource dataSource, Tables tables) {
        this.dataSource = dataSource;
        this.tables = tables;
        audit = new AuditRows(tables);
        now = QueueSql.of(tables.dialect().database()).now();
    }

    public static JdbcRecovery of(JdbcSchema schema) {
        return new JdbcRecovery(schema.dataSource(), SchemaTables.of(schema));
    }

    /** The consumers of which markers are gone that nobody has removed. */
    List<String> incomplete() {
        return new ShortTransactions(dataSource, tables)
                .once(
                        "look for markers",
                        connection -> List.copyOf(missing(connection).values()));
    }

    /**
     * Accepts what is lost. Offsets that were committed until now are believed, whatever these tables know of them. The
     * horizon of consumers whose markers are gone rises to the present: a message that carries a time from before it is
     * {@link dev.idem.Outcome.Undecidable}, one without any is taken for new. Start the instances anew then.
     *
     * @return the consumers whose markers are gone
     */
    public List<String> acceptLoss(String actor, String reason) {
        String who = InboxOperator.text("actor", actor, InboxOperator.LONGEST_ACTOR);
        String why = InboxOperator.text("reason", reason, InboxOperator.LONGEST_REASON);
        return new ShortTransactions(dataSource, tables)
                .tried("accept a loss", connection -> accept(connection, who, why));
    }

    private List<String> accept(Connection connection, String actor, String reason) throws SQLException {
        update(connection, "UPDATE ${meta} SET accepted_at = " + now, Map.of());
        String offsets = "offsets that were committed until now are believed";
        audit.write(connection, new AuditRows.Entry(STORE, null, "ACCEPT_LOSS", actor, reason, offsets));
        Map<Integer, String> missing = missing(connection);
        for (int consumer : missing.keySet()) {
            update(
                    connection,
                    "UPDATE ${retention} SET sample_key = NULL, horizon = " + now + " WHERE consumer = :consumer",
                    Map.of("consumer", NamedSql.Parameter.of(consumer)));
            String markers = "markers are gone; the horizon was raised to the present";
            audit.write(connection, new AuditRows.Entry(consumer, null, "ACCEPT_LOSS", actor, reason, markers));
        }
        return List.copyOf(missing.values());
    }

    private void update(Connection connection, String sql, Map<String, NamedSql.Parameter> values) throws SQLException {
        try (PreparedStatement statement = new NamedSql(tables.fill(sql)).prepare(connection, values)) {
            statement.executeUpdate();
        }
    }

    private Map<Integer, String> missing(Connection connection) throws SQLException {
        Map<Integer, String> found = new LinkedHashMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(tables.fill(CanaryMarkers.MISSING))) {
            while (rows.next()) {
                found.put(rows.getInt(2), rows.getString(1));
            }
        }
        return found;
    }
}
