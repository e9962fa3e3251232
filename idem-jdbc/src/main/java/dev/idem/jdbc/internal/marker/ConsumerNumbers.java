package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.StoreLog;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Transactions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.slf4j.Logger;

/**
 * Knows the number that stands for a consumer's name. A number is remembered only after it was read on a connection of
 * its own, committed: remembered any earlier, it could be rolled back and given to another consumer.
 *
 * <p><b>Why it can be remembered for ever.</b> A failover may lose the registration behind our back. The number is made
 * from the name ({@link NumberOfName}), so whoever registers the name again arrives at the number that is remembered here,
 * and another name does not get it. A number that does not come from its own name was given to a renamed consumer: only if
 * the renaming itself is lost do the tables disagree with us. {@link #restore} finds that out.
 */
public final class ConsumerNumbers {
    private static final Logger log = StoreLog.LOG;

    private static final int TRIES = 5;

    private final DataSource dataSource;
    private final NamedSql find;
    private final NamedSql holders;
    private final NamedSql register;
    private final Map<String, Integer> known = new ConcurrentHashMap<>();
    private final Set<String> told = ConcurrentHashMap.newKeySet();

    public ConsumerNumbers(DataSource dataSource, Dialect dialect, Tables tables) {
        this.dataSource = dataSource;
        find = new NamedSql(tables.fill("SELECT number FROM ${consumer} WHERE name = :name"));
        holders = new NamedSql(tables.fill("SELECT number FROM ${consumer} WHERE name = :name OR number = :number"));
        register = new NamedSql(tables.fill(dialect.registerConsumer()));
    }

    public int of(String consumer) throws SQLException {
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
                int number = found.isPresent() ? found.get() : register(connection, consumer);
                known.put(consumer, number);
                return number;
            });
        }
    }

    /** Each try says whether the name has a number now; if not, its number belongs to another name. */
    private int register(Connection connection, String consumer) throws SQLException {
        for (int candidate : NumberOfName.candidates(consumer)) {
            insert(connection, consumer, candidate);
            Optional<Integer> number = find(connection, consumer);
            if (number.isPresent()) {
                log.info(
                        "{}: new consumer. If it was renamed, its history is under the old name: idem consumer rename",
                        consumer);
                return number.get();
            }
        }
        throw new SQLException("Consumer " + consumer + " was registered but cannot be read");
    }

    /** Commits, so that a look behind it sees the present at every isolation level. */
    private void insert(Connection connection, String consumer, int number) throws SQLException {
        Map<String, NamedSql.Parameter> values =
                Map.of("name", NamedSql.Parameter.of(consumer), "number", NamedSql.Parameter.of(number));
        try (PreparedStatement statement = register.prepare(connection, values)) {
            statement.executeUpdate();
            connection.commit();
        } catch (SQLException failure) {
            connection.rollback();
            if (first(connection, holders, values).isEmpty()) { // else another instance was a moment faster
                throw failure;
            }
        }
    }

    private Optional<Integer> find(Connection connection, String consumer) throws SQLException {
        return first(connection, find, Map.of("name", NamedSql.Parameter.of(consumer)));
    }

    private static Optional<Integer> first(Connection connection, NamedSql sql, Map<String, NamedSql.Parameter> values)
            throws SQLException {
        try (PreparedStatement statement = sql.prepare(connection, values);
                ResultSet rows = statement.executeQuery()) {
            return rows.next() ? Optional.of(rows.getInt(1)) : Optional.empty();
        }
    }

    /**
     * Registers what was lost again, under the numbers that this process uses, so that sweeps and operators see it. Whatever
     * fails is left to the next time.
     */
    public void restore() {
        known.forEach((consumer, number) -> {
            try (Connection connection = dataSource.getConnection()) {
                Transactions.alone(connection, () -> restore(connection, consumer, number));
            } catch (SQLException failure) {
                log.debug("{}: whether it is still registered could not be seen", consumer, failure);
            }
        });
    }

    private boolean restore(Connection connection, String consumer, int number) throws SQLException {
        Optional<Integer> found = find(connection, consumer);
        if (found.isEmpty()) {
            insert(connection, consumer, number);
            found = find(connection, consumer);
        }
        boolean same = found.isPresent() && found.get() == number;
        if (!same && told.add(consumer)) {
            log.error(
                    "{}: its number is {} in this process and {} in the tables, so instances that start now have another"
                            + " history. It was renamed while it ran, or a failover has lost its renaming. See"
                            + " docs/operations.md, 'After a failover'",
                    consumer,
                    number,
                    found.map(String::valueOf).orElse("another consumer's"));
        }
        return same;
    }
}
