package dev.idem.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PostgresServerTest extends DatabaseServerContract {
    @Override
    DatabaseServer start() {
        return PostgresServer.start();
    }

    @Override
    String version() {
        return BinaryCache.version("postgres");
    }

    @Test
    void commitsAreDurableUnlessToldOtherwise() throws SQLException {
        try (var server = PostgresServer.start(Map.of("synchronous_commit", "off"))) {
            assertThat(setting(server, "fsync")).isEqualTo("on");
            assertThat(setting(server, "synchronous_commit")).isEqualTo("off");
        }
        assertThat(setting(PostgresServer.shared(), "synchronous_commit")).isEqualTo("on");
        assertThat(PostgresServer.shared()).isSameAs(PostgresServer.shared());
    }

    @Test
    void aServerThatCannotStartSaysWhy() {
        assertThatThrownBy(() -> PostgresServer.start(Map.of("no_such_setting", "1")))
                .isInstanceOf(ServerException.class)
                .hasMessageContaining("while starting")
                .hasMessageContaining("unrecognized configuration parameter \"no_such_setting\"");
    }

    private static String setting(PostgresServer server, String name) throws SQLException {
        try (var connection = DriverManager.getConnection(server.jdbcUrl("postgres"));
                var statement = connection.createStatement();
                var rows = statement.executeQuery("SHOW " + name)) {
            rows.next();
            return rows.getString(1);
        }
    }
}
