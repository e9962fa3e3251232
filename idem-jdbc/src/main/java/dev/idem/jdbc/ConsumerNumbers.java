package dev.idem.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows the number that stands for a consumer's name. A number is remembered only after it was read on a connection of
 * its own, committed: remembered any earlier, it could be rolled back and given to another consumer.
 */
final class ConsumerNumbers {
    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);

    private static final int TRIES = 5;

    private final DataSource dataSource;
    private final NamedSql find;
    private final NamedSql register;
    private final Map<String, Integer> known = new ConcurrentHashMap<>();

    ConsumerNumbers(DataSource dataSource, Dialect dialect, Tables tables) {
        this.dataSource = dataSource;
        find = new NamedSql(tables.fill("SELECT number FROM ${consumer} WHERE name = :name"));
        register = new NamedSql(tables.fill(dialect.registerConsumer()));
    }

    int of(String consumer) throws SQLException {
        Integer number = known.get(consumer);
        return number != null ? number : lookUntilSerialized(consumer);
    }

    /** Two that register at once may undo each other at the stricter isolation levels. */
    private int lookUntilSerialized(String consumer) throws SQLException {
        for (int i = 1; ; i++) {
            try {
                return look(consumer);
            } catch (SQLException failure) {
                boolean undone =
                        failure.getSQLState() != null && failure.getSQLState().startsWith("40");
                if (!undone || i == TRIES) {
                    throw failure;
                }
            }
        }
    }

    private int look(String consumer) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return Transactions.alone(connection, () -> {
                Optional<Integer> found = find(connection, consumer);
                if (found.isEmpty()) {
                    register(connection, consumer);
                    connection.commit();
                    found = find(connection, consumer);
                    log.info(
                            "{}: new consumer. If it was renamed, its history is under the old name:"
                                    + " idem consumer rename",
                            consumer);
                }
                int number = found.orElseThrow(
                        () -> new SQLException("Consumer " + consumer + " was registered but cannot be read"));
                known.put(consumer, number);
                return number;
            });
        }
    }

    private void register(Connection connection, String consumer) throws SQLException {
        try (PreparedStatement statement =
                register.prepare(connection, Map.of("name", NamedSql.Parameter.of(consumer)))) {
            statement.executeUpdate();
        } catch (SQLException failure) {
            connection.rollback();
            if (find(connection, consumer).isEmpty()) { // else another instance was a moment faster
                throw failure;
            }
        }
    }

    private Optional<Integer> find(Connection connection, String consumer) throws SQLException {
        try (PreparedStatement statement = find.prepare(connection, Map.of("name", NamedSql.Parameter.of(consumer)));
                ResultSet rows = statement.executeQuery()) {
            return rows.next() ? Optional.of(rows.getInt(1)) : Optional.empty();
        }
    }
}
