package dev.idem.jdbc.internal.sql;

import dev.idem.StoreException;
import dev.idem.TerminalException;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * How much the database takes in one piece. MariaDB ends the connection of whoever sends more than its {@code
 * max_allowed_packet}, which looks like an outage; so what is surely too large must not be sent.
 *
 * @param packet in bytes, as it was when the store was made
 */
public record StatementSize(long packet) {
    /** Column names, numbers and the text of the statement itself. */
    private static final int OVERHEAD = 64 << 10;

    /** PostgreSQL takes a gigabyte, but sends a value back as text of twice its length. */
    private static final StatementSize OTHERS = new StatementSize(512L << 20);

    public static StatementSize of(DataSource dataSource, Database database) {
        if (database != Database.MARIADB) {
            return OTHERS;
        }
        try (Connection connection = dataSource.getConnection()) {
            return Transactions.alone(connection, () -> packetOf(connection));
        } catch (SQLException failure) {
            throw new StoreException(
                    "Could not read max_allowed_packet (SQLState " + failure.getSQLState() + "): "
                            + SqlFaults.advice(failure),
                    failure);
        }
    }

    private static StatementSize packetOf(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT @@max_allowed_packet")) {
            row.next();
            return new StatementSize(row.getLong(1));
        }
    }

    /** The largest value that surely fits, whatever its bytes: drivers write some of them as two. */
    public int largestValue() {
        return (int) Math.max(1_024, (packet - OVERHEAD) / 2);
    }

    /**
     * Refuses values that surely do not fit. Those that may fit, by what their bytes are, are the database's to judge.
     *
     * @throws TerminalException because sending them again would not help
     */
    public void check(Object whose, @Nullable Object... values) {
        long size = 0;
        for (Object value : values) {
            if (value instanceof byte[] bytes) {
                size += bytes.length;
            } else if (value instanceof CharSequence text) {
                size += text.length();
            }
        }
        if (size >= packet) {
            throw new TerminalException(
                    "What is to be written for " + whose + " has " + size + " bytes, but the database takes at most "
                            + packet + " in one piece: store a reference, or raise its limit (MariaDB:"
                            + " max_allowed_packet)",
                    null);
        }
    }
}
