package dev.idem.test.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class LostConnectionTest {
    @Test
    void staysLostWithAllThatWasCreatedFromIt() throws Exception {
        var database = new TestDatabase();
        var faulty = FaultyDataSource.around(database.dataSource());
        Connection connection = faulty.getConnection();
        PreparedStatement statement = connection.prepareStatement("SELECT 1");
        ResultSet rows = statement.executeQuery();

        faulty.arm(1, Fault.CONNECTION_LOST_BEFORE);
        assertFails("08006", connection::commit);

        assertFails("08003", connection::commit);
        assertFails("08003", connection::rollback);
        assertFails("08003", connection::createStatement);
        assertFails("08003", connection::getAutoCommit);
        assertFails("08003", statement::executeQuery);
        assertFails("08003", rows::next);
        assertThat(faulty.calls()).as("refused calls reach no server").isEqualTo(1);

        assertThat(connection.isClosed()).isTrue();
        assertThat(connection.isValid(1)).isFalse();
        assertThat(statement.isClosed()).isTrue();
        rows.close();
        statement.close();
        connection.abort(Runnable::run);
        connection.close();
        connection.close();
        assertThat(database.connections()).isZero();
    }

    @Test
    void othersAreNotTouched() throws Exception {
        var faulty = FaultyDataSource.around(new TestDatabase().dataSource());
        try (Connection one = faulty.getConnection();
                Connection other = faulty.getConnection()) {
            faulty.arm(1, Fault.CONNECTION_LOST_AFTER);
            assertFails("08006", one::commit);
            assertThat(other.isValid(1)).isTrue();
            other.commit();
        }
    }

    private static void assertFails(String sqlState, ThrowingCallable call) {
        assertThatThrownBy(call)
                .asInstanceOf(throwable(SQLException.class))
                .extracting(SQLException::getSQLState)
                .isEqualTo(sqlState);
    }
}
