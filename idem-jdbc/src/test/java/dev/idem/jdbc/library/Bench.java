package dev.idem.jdbc.library;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Work;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.SchemaMode;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.MariaDbServer;
import dev.idem.servers.PostgresServer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import javax.sql.DataSource;

/** A fresh database with a table of payments, a pool, a store and an inbox: what an application has at start. */
final class Bench implements AutoCloseable {
    private final Database database;
    private final HikariDataSource pool;
    private final JdbcStore store;
    private final Inbox inbox;

    Bench(Database database) {
        this.database = database;
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(freshUrl(database));
        config.setMaximumPoolSize(3);
        config.setMinimumIdle(0);
        pool = new HikariDataSource(config);
        execute("CREATE TABLE payment (order_id VARCHAR(100) NOT NULL PRIMARY KEY)");
        store = JdbcStore.builder(pool).schemaMode(SchemaMode.CREATE).build();
        inbox = Inbox.create(store);
    }

    static String freshUrl(Database database) {
        return switch (database) {
            case H2 -> "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
            case POSTGRESQL -> {
                PostgresServer server = PostgresServer.shared();
                yield server.jdbcUrl(server.createDatabase());
            }
            case MARIADB -> {
                MariaDbServer server = MariaDbServer.shared();
                yield server.jdbcUrl(server.createDatabase());
            }
        };
    }

    Database database() {
        return database;
    }

    DataSource pool() {
        return pool;
    }

    JdbcStore store() {
        return store;
    }

    Inbox inbox() {
        return inbox;
    }

    /** Delivers a message of that id. */
    <X extends Exception> Outcome<?> deliver(String id, Work.Action<X> action) throws X {
        return inbox.run("payments", Message.of(id, "pay".getBytes(StandardCharsets.UTF_8)), action);
    }

    long payments() {
        return count("payment");
    }

    long markers() {
        return count("idem_marker");
    }

    private long count(String table) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM " + table)) {
            rows.next();
            return rows.getLong(1);
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    void execute(String sql) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Override
    public void close() {
        inbox.close();
        pool.close();
    }
}
