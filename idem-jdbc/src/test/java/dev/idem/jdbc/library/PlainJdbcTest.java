package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.BrokenTransactionException;
import dev.idem.Transaction;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Code that was written for an ordinary data source, with the usual commit, rollback and close. */
class PlainJdbcTest extends LibraryContract {
    @Override
    Library start(Bench bench) {
        DataSource configured = bench.store().dataSource();
        return (tx, way) -> switch (way) {
            case CONNECTION -> new Repository(null, tx.connection());
            case UNIT_DATA_SOURCE -> new Repository(tx.dataSource(), null);
            case STORE_DATA_SOURCE -> new Repository(configured, null);
        };
    }

    private record Repository(DataSource source, Connection given) implements Library.Access {
        @Override
        public void pay(String order) throws SQLException {
            if (given != null) {
                insert(given, order);
                return;
            }
            try (Connection connection = source.getConnection()) {
                insert(connection, order);
            }
        }

        @Override
        public void payInTransaction(String order, Library.Body body) throws Exception {
            try (Connection connection = source.getConnection()) {
                connection.setAutoCommit(false);
                try {
                    insert(connection, order);
                    body.run();
                    connection.commit();
                } catch (Exception failure) {
                    connection.rollback();
                    throw failure;
                } finally {
                    connection.setAutoCommit(true);
                }
            }
        }
    }

    private static void insert(Connection connection, String order) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("INSERT INTO payment VALUES (?)")) {
            statement.setString(1, order);
            statement.executeUpdate();
        }
    }

    @Test
    @DisplayName("PC-09 the handler's own connection refuses commit, rollback, autocommit and close")
    void theHandlersConnectionIsNoLibrarys() throws Exception {
        try (Bench bench = new Bench(Database.H2)) {
            bench.deliver("m", tx -> {
                Connection connection = tx.connection();
                insert(connection, "1");
                assertThat(connection.getAutoCommit()).isFalse();
                connection.setAutoCommit(false);
                assertThatThrownBy(connection::commit).hasMessageContaining("Idem commits");
                assertThatThrownBy(connection::rollback).hasMessageContaining("Throw an exception");
                assertThatThrownBy(() -> connection.setAutoCommit(true)).hasMessageContaining("Refused");
                assertThatThrownBy(connection::close).hasMessageContaining("Refused");
            });
            assertThat(bench.payments()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-09 work that is closed without commit is not applied, and not acknowledged")
    void closingWithoutCommitCountsAsARollback(Database database) {
        try (Bench bench = new Bench(database)) {
            assertThatThrownBy(() -> bench.deliver("m", tx -> {
                        try (Connection connection = tx.dataSource().getConnection()) {
                            connection.setAutoCommit(false);
                            insert(connection, "1");
                        }
                    }))
                    .isInstanceOf(BrokenTransactionException.class)
                    .hasStackTraceContaining("A library closed a connection without commit here");
            assertThat(bench.payments()).isZero();
            assertThat(bench.markers()).isZero();
        }
    }

    @Test
    void afterARollbackNothingGoesOnButCleaningUp() throws Exception {
        try (Bench bench = new Bench(Database.H2)) {
            assertThatThrownBy(() -> bench.deliver("m", tx -> {
                        rolledBack(tx);
                        insert(tx.connection(), "2");
                    }))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("Refused: to go on after a rollback");
            assertThatThrownBy(() -> bench.deliver("m", tx -> {
                        rolledBack(tx);
                        tx.dataSource().getConnection().commit();
                    }))
                    .isInstanceOf(SQLException.class);
            assertThat(bench.payments()).isZero();
        }
    }

    private static void rolledBack(Transaction tx) throws SQLException {
        try (Connection connection = tx.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            insert(connection, "1");
            connection.rollback();
            connection.setAutoCommit(true);
        }
    }

    @Test
    void aRollbackOfNothingIsHarmless() throws Exception {
        try (Bench bench = new Bench(Database.H2)) {
            bench.deliver("m", tx -> {
                try (Connection connection = tx.dataSource().getConnection()) {
                    connection.setAutoCommit(false);
                    connection.rollback(); // some libraries do, before they give a connection back
                    insert(connection, "1");
                    connection.commit();
                    connection.rollback();
                }
            });
            assertThat(bench.payments()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("PC-09 HX-08 work that is neither committed nor rolled back when the handler returns is not applied")
    void whatIsLeftOpenIsRefused(Database database) throws Exception {
        try (Bench bench = new Bench(database)) {
            assertThatThrownBy(() -> bench.deliver("m", tx -> leftOpen(tx).getAutoCommit()))
                    .isInstanceOf(BrokenTransactionException.class)
                    .hasMessageContaining("left a transaction open");
            assertThat(bench.payments()).isZero();
            assertThat(bench.markers()).isZero();
            bench.deliver("m", tx -> {
                Connection connection = leftOpen(tx);
                connection.commit();
                connection.setAutoCommit(true);
                insert(connection, "2"); // with autocommit there is nothing to end
            });
            assertThat(bench.payments()).isEqualTo(2);
        }
    }

    private static Connection leftOpen(Transaction tx) throws SQLException {
        Connection connection = tx.dataSource().getConnection();
        connection.setAutoCommit(false);
        insert(connection, "1");
        return connection;
    }
}
