package dev.idem.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SkipWithoutServer.class)
class PgBouncerTest {
    @Test
    void oneServerConnectionServesTwoClientsInTransactionMode() throws SQLException {
        PostgresServer server = PostgresServer.shared();
        String database = server.createDatabase();
        try (var bouncer = PgBouncer.start(server, "transaction", 1);
                var first = DriverManager.getConnection(bouncer.jdbcUrl(database));
                var second = DriverManager.getConnection(bouncer.jdbcUrl(database))) {
            assertThat(backend(first)).isEqualTo(backend(second));
        } finally {
            server.dropDatabase(database);
        }
    }

    @Test
    void eachClientKeepsItsServerConnectionInSessionMode() throws SQLException {
        PostgresServer server = PostgresServer.shared();
        String database = server.createDatabase();
        try (var bouncer = PgBouncer.start(server, "session", 2);
                var first = DriverManager.getConnection(bouncer.jdbcUrl(database));
                var second = DriverManager.getConnection(bouncer.jdbcUrl(database))) {
            assertThat(backend(first)).isEqualTo(backend(first)).isNotEqualTo(backend(second));
        } finally {
            server.dropDatabase(database);
        }
    }

    private static int backend(Connection connection) throws SQLException {
        try (var statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT pg_backend_pid()")) {
            rows.next();
            return rows.getInt(1);
        }
    }
}
