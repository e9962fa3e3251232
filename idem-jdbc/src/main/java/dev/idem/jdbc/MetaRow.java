package dev.idem.jdbc;

import dev.idem.StoreException;
import dev.idem.jdbc.internal.sql.SqlFaults;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.internal.sql.Transactions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The row that says what the tables are: it keeps their secret, and reading it shows that the database answers. Thread-safe. */
final class MetaRow {
    private final DataSource dataSource;
    private final Tables tables;
    private volatile byte @Nullable [] secret;

    MetaRow(DataSource dataSource, Tables tables) {
        this.dataSource = dataSource;
        this.tables = tables;
    }

    byte[] secret() {
        byte[] known = secret;
        if (known == null) {
            known = read();
            secret = known;
        }
        return known.clone();
    }

    void ping() {
        read();
    }

    private byte[] read() {
        try (Connection connection = dataSource.getConnection()) {
            return Transactions.alone(connection, () -> {
                try (Statement statement = connection.createStatement();
                        ResultSet row = statement.executeQuery(tables.fill("SELECT secret FROM ${meta}"))) {
                    if (!row.next()) {
                        throw new SQLException("The tables do not say which they are");
                    }
                    return row.getBytes(1);
                }
            });
        } catch (SQLException failure) {
            throw new StoreException(
                    "Could not read what " + tables + " are (SQLState " + failure.getSQLState() + "): "
                            + SqlFaults.advice(failure),
                    failure);
        }
    }
}
