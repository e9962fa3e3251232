package dev.idem.test;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Deletes all rows. Foreign keys decide the order: what cannot be emptied yet is tried again after the others. */
final class Emptying {
    /** More rows than a test would write: somebody's data, and not to be deleted. */
    static final int MOST_ROWS = 10_000;

    private final Connection connection;

    Emptying(Connection connection) {
        this.connection = connection;
    }

    void of(List<SchemaTables.Table> tables) throws SQLException {
        connection.setAutoCommit(true);
        for (SchemaTables.Table table : tables) {
            refuseIfFull(table);
        }
        List<SchemaTables.Table> left = new ArrayList<>(tables);
        while (!left.isEmpty()) {
            SQLException reason = deleteFrom(left);
            if (reason != null) {
                throw reason;
            }
        }
    }

    /** Removes from the list what could be emptied; returns why nothing could. */
    private @Nullable SQLException deleteFrom(List<SchemaTables.Table> tables) {
        SQLException reason = null;
        boolean progress = false;
        for (SchemaTables.Table table : List.copyOf(tables)) {
            try (Statement statement = connection.createStatement()) {
                statement.executeUpdate("DELETE FROM " + table.sql());
                tables.remove(table);
                progress = true;
            } catch (SQLException referenced) {
                reason = referenced;
            }
        }
        return progress ? null : reason;
    }

    private void refuseIfFull(SchemaTables.Table table) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM " + table.sql())) {
            rows.next();
            if (rows.getLong(1) > MOST_ROWS) {
                throw new IllegalStateException("Refused to empty table " + table.name() + ", which has "
                        + rows.getLong(1) + " rows: an idempotency test needs a database of its own, or a reset(...)");
            }
        }
    }
}
