package dev.idem.jdbc.admin;

import dev.idem.Consumer;
import dev.idem.StoreException;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.internal.marker.KnownConsumer;
import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Transactions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/** The consumers a store knows, for operators: their names can be changed without losing their history. Thread-safe. */
public final class JdbcConsumers {
    private final DataSource dataSource;
    private final Tables tables;

    private JdbcConsumers(DataSource dataSource, Tables tables) {
        this.dataSource = dataSource;
        this.tables = tables;
    }

    public static JdbcConsumers of(JdbcSchema schema) {
        return new JdbcConsumers(schema.dataSource(), SchemaTables.of(schema));
    }

    /** A consumer's name and the number that stands for it in the tables. */
    public record Known(int number, String name) {}

    /** All of them, by name. */
    public List<Known> list() {
        try (Connection connection = dataSource.getConnection()) {
            return Transactions.alone(connection, () -> KnownConsumer.all(connection, tables)).stream()
                    .map(known -> new Known(known.number(), known.name()))
                    .toList();
        } catch (SQLException failure) {
            throw failed("list the consumers", failure);
        }
    }

    /**
     * Gives a consumer a new name and leaves it its history. Stop the instances that use the old name first: a running
     * one keeps the old number, one that starts later would begin anew under the old name.
     *
     * @return false when there is no consumer of the old name
     * @throws StoreException when the new name is taken
     */
    public boolean rename(String from, String to) {
        Consumer.of(to); // checks the name
        NamedSql sql = new NamedSql(tables.fill("UPDATE ${consumer} SET name = :to WHERE name = :from"));
        try (Connection connection = dataSource.getConnection()) {
            return Transactions.alone(connection, () -> {
                try (PreparedStatement statement = sql.prepare(
                        connection, Map.of("from", NamedSql.Parameter.of(from), "to", NamedSql.Parameter.of(to)))) {
                    return statement.executeUpdate() == 1;
                }
            });
        } catch (SQLException failure) {
            throw failed("rename the consumer; is the new name taken?", failure);
        }
    }

    private StoreException failed(String what, SQLException failure) {
        return new StoreException(
                "Could not " + what + " (SQLState " + failure.getSQLState() + "): " + SqlFaults.advice(failure),
                failure);
    }
}
