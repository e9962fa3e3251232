package dev.idem.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/**
 * Moves a row from one state to another, and from no other: the strategy for effects that are steps of a state machine, which
 * are harmless when repeated and refused when they come too early or too late. Immutable and thread-safe.
 *
 * <pre>{@code
 * StateTransition order = StateTransition.of("orders", "id", "state");
 * order.apply(tx.connection(), orderId, "PAID", "SHIPPED");
 * }</pre>
 */
public final class StateTransition {
    private final String update;
    private final String read;

    /** What became of a transition. */
    public enum Result {
        APPLIED,
        /** The row is in the new state already. */
        ALREADY,
        /** The row is in a third state, or not there. */
        REFUSED
    }

    private StateTransition(String table, String key, String state) {
        update = "UPDATE " + table + " SET " + state + " = ? WHERE " + key + " = ? AND " + state + " = ?";
        // A current read, also where a transaction else sees what was there when it began.
        read = "SELECT CASE WHEN " + state + " = ? THEN 1 ELSE 0 END FROM " + table + " WHERE " + key
                + " = ? FOR UPDATE";
    }

    /** Names are of letters, digits and underscores; a table may stand behind its schema and a dot. */
    public static StateTransition of(String table, String key, String state) {
        return new StateTransition(BusinessNames.table(table), BusinessNames.column(key), BusinessNames.column(state));
    }

    /** Compares and sets in the transaction of the connection. */
    public Result apply(Connection connection, Object key, Object from, Object to) throws SQLException {
        if (from.equals(to)) {
            throw new IllegalArgumentException("a transition from " + from + " to itself proves nothing");
        }
        try (PreparedStatement statement = connection.prepareStatement(update)) {
            VersionedUpsert.bind(statement, List.of(to, key, from));
            if (statement.executeUpdate() == 1) {
                return Result.APPLIED;
            }
        }
        try (PreparedStatement statement = connection.prepareStatement(read)) {
            VersionedUpsert.bind(statement, List.of(to, key));
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getInt(1) == 1 ? Result.ALREADY : Result.REFUSED;
            }
        }
    }
}
