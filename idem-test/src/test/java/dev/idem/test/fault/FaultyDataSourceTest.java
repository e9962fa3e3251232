package dev.idem.test.fault;

import static dev.idem.test.fault.Fault.CONNECTION_LOST_AFTER;
import static dev.idem.test.fault.Fault.CONNECTION_LOST_BEFORE;
import static dev.idem.test.fault.Fault.ERROR;
import static dev.idem.test.fault.Fault.EXCEPTION_AFTER;
import static dev.idem.test.fault.Fault.EXCEPTION_BEFORE;
import static dev.idem.test.fault.Fault.SILENT_ROLLBACK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.h2.jdbc.JdbcConnection;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class FaultyDataSourceTest {
    /** The calls of {@link #insertAndCommit}, in order. */
    private static final int GET_CONNECTION = 1;

    private static final int PREPARE = 3;
    private static final int EXECUTE = 4;
    private static final int COMMIT = 5;
    private static final int CLOSE = 6;

    private TestDatabase database;
    private FaultyDataSource faulty;

    @BeforeEach
    void createDatabase() throws SQLException {
        database = new TestDatabase();
        faulty = FaultyDataSource.around(database.dataSource());
    }

    @Test
    void tracesSqlOnOneLineAndNeverBindValues() throws Exception {
        insertAndCommit("secret");

        assertThat(faulty.trace())
                .containsExactly(
                        "getConnection",
                        "setAutoCommit false",
                        "prepareStatement INSERT INTO effect VALUES (?)",
                        "executeUpdate INSERT INTO effect VALUES (?)",
                        "commit",
                        "close");
        assertThat(faulty.calls()).isEqualTo(6);
        assertThat(faulty.fired()).isFalse();
    }

    @Test
    void countsSavepointsBatchesAndSettings() throws Exception {
        try (Connection connection = faulty.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            Savepoint savepoint = connection.setSavepoint("one");
            statement.addBatch("INSERT INTO effect VALUES ('a')");
            statement.addBatch("INSERT INTO effect VALUES ('b')");
            statement.executeBatch();
            connection.rollback(savepoint);
            connection.releaseSavepoint(savepoint);
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            connection.rollback();
        }
        assertThat(faulty.trace())
                .containsExactly(
                        "getConnection",
                        "setAutoCommit false",
                        "setSavepoint one",
                        "executeBatch INSERT INTO effect VALUES ('a'); INSERT INTO effect VALUES ('b')",
                        "rollback savepoint",
                        "releaseSavepoint savepoint",
                        "setTransactionIsolation 2",
                        "rollback",
                        "close");
    }

    @Test
    void exceptionBeforeMeansTheCallWasNotMade() throws Exception {
        faulty.arm(COMMIT, EXCEPTION_BEFORE);

        assertFailsWith("XX000", "commit");
        assertThat(database.effects()).isZero();
        assertThat(faulty.fired()).isTrue();
    }

    @Test
    void exceptionAfterMeansTheCallWasMade() throws Exception {
        faulty.arm(COMMIT, EXCEPTION_AFTER);

        assertFailsWith("XX000", "commit");
        assertThat(database.effects()).isEqualTo(1);
    }

    @Test
    void connectionLostBeforeCommitLosesTheTransaction() throws Exception {
        faulty.arm(COMMIT, CONNECTION_LOST_BEFORE);

        assertFailsWith("08006", "commit");
        assertThat(database.effects()).isZero();
        assertThat(database.connections()).isZero();
    }

    @Test
    @DisplayName("PG-15 a connection lost after commit leaves the effect and an error")
    void connectionLostAfterCommitIsTheUnknownCommit() throws Exception {
        faulty.arm(COMMIT, CONNECTION_LOST_AFTER);

        assertFailsWith("08006", "commit");
        assertThat(database.effects()).isEqualTo(1);
        assertThat(database.connections()).isZero();
    }

    @Test
    @DisplayName("PG-15 a COMMIT inside SQL text can become unknown as well")
    void connectionLostAfterCommitAsSqlText() throws Exception {
        for (Fault fault : List.of(CONNECTION_LOST_BEFORE, CONNECTION_LOST_AFTER)) {
            database.execute("DELETE FROM effect");
            faulty.arm(4, fault);
            assertThatThrownBy(() -> {
                        try (Connection connection = faulty.getConnection();
                                Statement statement = connection.createStatement()) {
                            connection.setAutoCommit(false);
                            statement.execute("INSERT INTO effect VALUES ('a')");
                            statement.execute("SELECT count(*) FROM effect; COMMIT");
                        }
                    })
                    .hasMessageContaining("call 4: execute SELECT count(*) FROM effect; COMMIT");
            assertThat(database.effects()).as(fault.name()).isEqualTo(fault == CONNECTION_LOST_AFTER ? 1 : 0);
        }
    }

    @Test
    void silentRollbackLosesTheEffectWithoutAnError() throws Exception {
        faulty.arm(COMMIT, SILENT_ROLLBACK);

        insertAndCommit("a");

        assertThat(faulty.fired()).isTrue();
        assertThat(database.effects()).isZero();
    }

    @Test
    void silentRollbackReachesTransactionsBegunBySqlText() throws Exception {
        faulty.arm(3, SILENT_ROLLBACK);
        try (Connection connection = faulty.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET AUTOCOMMIT OFF; INSERT INTO effect VALUES ('a')");
            statement.execute("INSERT INTO effect VALUES ('b'); COMMIT");
        }
        assertThat(database.effects()).isEqualTo(1);
    }

    @Test
    void errorIsNoExceptionAndTheCallWasNotMade() throws Exception {
        faulty.arm(EXECUTE, ERROR);

        assertThatThrownBy(() -> insertAndCommit("a"))
                .isInstanceOf(InjectedError.class)
                .hasMessage("Injected ERROR at call 4: executeUpdate INSERT INTO effect VALUES (?)");
        assertThat(database.effects()).isZero();
        assertThat(database.connections()).isZero();
    }

    @Test
    void throwsTheExceptionItIsGiven() {
        faulty.arm(EXECUTE, EXCEPTION_AFTER, () -> new SQLTransactionRollbackException("deadlock", "40001", 1213));

        assertThatThrownBy(() -> insertAndCommit("a")).isInstanceOf(SQLTransactionRollbackException.class);
        assertThatIllegalArgumentException().isThrownBy(() -> faulty.arm(1, ERROR, SQLException::new));
        assertThatIllegalArgumentException().isThrownBy(() -> faulty.arm(0, ERROR));
    }

    @Test
    void firesOnceAndCountsAnew() throws Exception {
        faulty.arm(PREPARE, EXCEPTION_BEFORE);

        assertFailsWith("XX000", "prepareStatement");
        insertAndCommit("b");
        assertThat(database.effects()).isEqualTo(1);

        faulty.arm(PREPARE, EXCEPTION_BEFORE);
        assertThat(faulty.calls()).isZero();
        assertThat(faulty.fired()).isFalse();
        faulty.disarm();
        insertAndCommit("c");
        assertThat(faulty.calls()).isEqualTo(6);
        assertThat(faulty.fired()).isFalse();
    }

    @Test
    void noFaultLeavesAConnectionOpen() throws Exception {
        for (Fault fault : Fault.values()) {
            for (int n : new int[] {GET_CONNECTION, CLOSE}) {
                faulty.arm(n, fault);
                try {
                    insertAndCommit("a");
                } catch (SQLException | InjectedError injected) {
                    assertThat(fault).isNotEqualTo(SILENT_ROLLBACK);
                }
                assertThat(faulty.fired()).isTrue();
                assertThat(database.connections()).as("%s at %d", fault, n).isZero();
            }
        }
    }

    @Test
    void oneOfManyConcurrentCallsIsTheOneToFail() {
        var failures = new AtomicInteger();
        faulty.arm(77, EXCEPTION_BEFORE);
        IntStream.range(0, 100).parallel().forEach(i -> {
            try (Connection connection = faulty.getConnection()) {
                connection.prepareStatement("SELECT 1").close();
            } catch (SQLException injected) {
                failures.incrementAndGet();
            }
        });
        assertThat(failures).hasValue(1);
        assertThat(faulty.trace()).hasSize(faulty.calls());
    }

    @Test
    void noWayLeadsAroundTheFaults() throws Exception {
        try (Connection connection = faulty.getConnection();
                PreparedStatement statement = connection.prepareStatement("SELECT 1")) {
            assertThat(statement.getConnection()).isSameAs(connection);
            assertThat(statement.executeQuery().getStatement()).isSameAs(statement);
            assertThat(connection.getMetaData().getConnection()).isSameAs(connection);
            assertThat(connection.unwrap(Connection.class)).isSameAs(connection);
            assertThat(connection.isWrapperFor(JdbcConnection.class)).isTrue();
            assertThat(connection.unwrap(JdbcConnection.class)).isInstanceOf(JdbcConnection.class);
            assertThat(Set.of(connection)).contains(connection);
            assertThat(connection.toString()).startsWith("Faulty[");
        }
        assertThat(faulty.unwrap(FaultyDataSource.class)).isSameAs(faulty);
    }

    private void assertFailsWith(String sqlState, String call) {
        assertThatThrownBy(() -> insertAndCommit("a"))
                .hasMessageStartingWith("Injected ")
                .hasMessageContaining(call)
                .asInstanceOf(throwable(SQLException.class))
                .extracting(SQLException::getSQLState)
                .isEqualTo(sqlState);
    }

    private void insertAndCommit(String id) throws SQLException {
        try (Connection connection = faulty.getConnection()) {
            connection.setAutoCommit(false);
            try (PreparedStatement insert = connection.prepareStatement("""
                    INSERT INTO effect
                    VALUES (?)
                    """)) {
                insert.setString(1, id);
                insert.executeUpdate();
            }
            connection.commit();
        }
    }
}
