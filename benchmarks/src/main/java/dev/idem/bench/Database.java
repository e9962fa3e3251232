package dev.idem.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.bench.contender.Sql;
import dev.idem.cli.CliException;
import dev.idem.servers.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Where it is measured: a PostgreSQL that is started for it, or a schema of its own in an existing one. Both go away in the
 * end. All contenders share one pool with the pool's and the driver's default settings.
 */
final class Database implements AutoCloseable {
    /** Enough for the most threads of any case, and for what sweeps, polls and renews beside them. */
    private static final int CONNECTIONS = 14;

    private final HikariDataSource pool;
    private final @Nullable PostgresServer server;
    private final @Nullable String schema;

    private Database(HikariDataSource pool, @Nullable PostgresServer server, @Nullable String schema) {
        this.pool = pool;
        this.server = server;
        this.schema = schema;
    }

    static Database start() {
        PostgresServer server = PostgresServer.start();
        return new Database(pool(server.jdbcUrl(server.createDatabase()), null), server, null);
    }

    static Database existing(String url) {
        String schema = "idem_bench_" + UUID.randomUUID().toString().substring(0, 8);
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE SCHEMA " + schema);
        } catch (SQLException failure) {
            throw new CliException(
                    "No schema could be created at the address of --db: " + failure.getMessage(),
                    "Give jdbc:postgresql://host/database?user=…&password=… with a user that may create schemas",
                    failure);
        }
        return new Database(pool(url, schema), null, schema);
    }

    private static HikariDataSource pool(String url, @Nullable String schema) {
        var config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setSchema(schema);
        config.setMaximumPoolSize(CONNECTIONS);
        return new HikariDataSource(config);
    }

    DataSource dataSource() {
        return pool;
    }

    /** Where the server keeps its data, if it is ours. */
    @Nullable
    Path directory() {
        return server == null ? null : server.log().getParent();
    }

    @Override
    public void close() throws SQLException {
        try (pool;
                server) {
            if (schema != null) {
                Sql.execute(pool, "DROP SCHEMA " + schema + " CASCADE");
            }
        }
    }
}
