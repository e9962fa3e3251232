package dev.idem.jdbc.internal.retention;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;

/** A walk through one table, in short steps, past every row that was there when it began. */
interface TableScan {
    /** The name of the table, for people. */
    String what();

    boolean hasNext();

    /**
     * Takes the next step in the connection's transaction, which the caller commits: removes what is old enough and raises
     * the horizon of each consumer, or only counts. Answers how many rows of which consumer; a step that failed is taken
     * again.
     */
    Map<Integer, Long> step(Connection connection, boolean dryRun) throws SQLException;

    /** Called when a step is committed. */
    void advance();

    /** How far it is, in percent, or -1 if nobody knows. */
    int percent();
}
