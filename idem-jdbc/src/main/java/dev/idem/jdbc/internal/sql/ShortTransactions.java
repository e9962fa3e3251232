package dev.idem.jdbc.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** Short transactions of an operator's or an executor's own, each on a connection that is given back at once. Thread-safe. */
public record ShortTransactions(DataSource dataSource, Tables tables) {
    private static final int TRIES = 5;
    private static final String IN_TRANSACTION = "25001";

    /** @throws dev.idem.StoreException when the database did not answer, with what to do about it */
    public <T> T once(String what, Doing<T> doing) {
        return run(1, what, doing);
    }

    /** The same, again if it met another transaction. What another has committed while a lock was waited for is seen. */
    public <T> T tried(String what, Doing<T> doing) {
        return run(TRIES, what, connection -> {
            isolate(connection);
            return doing.in(connection);
        });
    }

    private void isolate(Connection connection) throws SQLException {
        String isolation = QueueSql.of(tables.dialect().database()).isolation();
        if (!isolation.isEmpty()) {
            try (Statement statement = connection.createStatement()) {
                statement.execute(isolation);
            } catch (SQLException failure) {
                if (!IN_TRANSACTION.equals(failure.getSQLState())) { // a pool without autocommit has begun one
                    throw failure;
                }
            }
        }
    }

    private <T> T run(int tries, String what, Doing<T> doing) {
        SqlFaults faults = new SqlFaults(tables.dialect().faults());
        for (int i = 1; ; i++) {
            try (Connection connection = dataSource.getConnection()) {
                return Transactions.alone(connection, () -> doing.in(connection));
            } catch (SQLException failure) {
                if (i == tries || !faults.isTransient(failure)) {
                    throw SqlFaults.failed(what, tables, failure);
                }
            }
        }
    }

    @FunctionalInterface
    public interface Doing<T> {
        T in(Connection connection) throws SQLException;
    }
}
