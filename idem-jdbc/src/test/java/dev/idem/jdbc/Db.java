package dev.idem.jdbc;

import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Transaction;
import dev.idem.jdbc.internal.guard.UnitDataSource;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.Database;
import dev.idem.servers.MariaDbServer;
import dev.idem.servers.PostgresServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A fresh, empty database on a real server (or in this process for H2), with a business table to count effects in. */
public final class Db implements AutoCloseable {
    static {
        // At the usual 100 ms the end of a pause would be most of what many tests take.
        Awaitility.setDefaultPollInterval(Duration.ofMillis(20));
    }

    private final Database kind;
    private final String url;
    private final List<HikariDataSource> pools = new ArrayList<>();
    private final Look look;

    private Db(Database kind, String url) {
        this.kind = kind;
        this.url = url;
        look = new Look(kind, url);
        execute("CREATE TABLE payment (order_id VARCHAR(100) NOT NULL, run INT)");
        if (kind == Database.H2) {
            execute("CREATE ALIAS undone FOR \"dev.idem.jdbc.Undone.raise\"");
        }
    }

    public static Db fresh(Database kind) {
        return new Db(
                kind,
                switch (kind) {
                    case H2 -> "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
                    case POSTGRESQL -> {
                        PostgresServer server = PostgresServer.shared();
                        yield server.jdbcUrl(server.createDatabase());
                    }
                    case MARIADB -> {
                        MariaDbServer server = MariaDbServer.shared();
                        yield server.jdbcUrl(server.createDatabase());
                    }
                });
    }

    /** A database in a file, durable at each commit; closed while nobody is connected, so another process may open it. */
    static Db h2File(Path file) {
        return new Db(Database.H2, "jdbc:h2:file:" + file.toAbsolutePath() + ";WRITE_DELAY=0");
    }

    /** A database that is there already. */
    static Db at(Database kind, String url) {
        return new Db(kind, url);
    }

    public Database kind() {
        return kind;
    }

    public String url() {
        return url;
    }

    String url(String... options) {
        String separator = kind == Database.H2 ? ";" : "&";
        return url + separator + String.join(separator, options);
    }

    /** A data source without a pool. */
    public DataSource plain() {
        return plain(url);
    }

    /** Idem's tables in it, as they are now. */
    public Tables tables() {
        return JdbcSchema.of(plain()).tables();
    }

    static DataSource plain(String url) {
        return new UnitDataSource(() -> DriverManager.getConnection(url));
    }

    public HikariDataSource pool(int size, String... options) {
        return pool(size, plain(options.length == 0 ? url : url(options)));
    }

    public HikariDataSource pool(int size, DataSource source) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        HikariDataSource pool = new HikariDataSource(config);
        pools.add(pool);
        return pool;
    }

    public Inbox inbox() {
        return Inbox.create(store());
    }

    public Inbox inbox(DataSource source) {
        return Inbox.create(store(source));
    }

    public static Message message(String id) {
        return Message.of(id, id.getBytes(StandardCharsets.UTF_8));
    }

    /** A new role without a password that may do no more with this database than it is granted here. */
    String role(String grants) {
        String role = "r_" + UUID.randomUUID().toString().substring(0, 8);
        if (kind == Database.POSTGRESQL) {
            execute(
                    "REVOKE CREATE ON SCHEMA public FROM PUBLIC", // everybody's before version 15
                    "CREATE ROLE " + role + " LOGIN",
                    "GRANT " + grants + " ON ALL TABLES IN SCHEMA public TO " + role);
        } else {
            execute(
                    "CREATE USER " + role + "@'%'",
                    "GRANT " + grants + " ON " + text("SELECT DATABASE()") + ".* TO " + role);
        }
        return role;
    }

    String urlOf(String role) {
        return url.replaceFirst("user=\\w+", "user=" + role);
    }

    public JdbcStore store() {
        return store(plain());
    }

    public JdbcStore store(DataSource source) {
        return JdbcStore.builder(source).schemaMode(SchemaMode.CREATE).build();
    }

    public void execute(String... statements) {
        admin(url, statements);
    }

    static void admin(String url, String... statements) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    public long number(String sql) {
        return look.at(sql, rows -> rows.getLong(1));
    }

    public String text(String sql) {
        return look.at(sql, rows -> rows.getString(1));
    }

    /** Waits until so many sessions of this database wait for a lock of another one. */
    public void awaitBlocked(int sessions) {
        awaitBlocked(sessions, Duration.ofSeconds(20));
    }

    void awaitBlocked(int sessions, Duration limit) {
        String sql = switch (kind) {
            case POSTGRESQL ->
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                        + " AND wait_event_type = 'Lock'";
            case MARIADB ->
                "SELECT count(*) FROM information_schema.innodb_trx t JOIN information_schema.processlist p"
                        + " ON p.id = t.trx_mysql_thread_id WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE()";
            case H2 -> "SELECT count(*) FROM INFORMATION_SCHEMA.SESSIONS WHERE BLOCKER_ID IS NOT NULL";
        };
        // InnoDB shows its transactions as they were until nobody has looked for a tenth of a second.
        await().atMost(limit).pollInterval(Duration.ofMillis(150)).until(() -> number(sql) >= sessions);
    }

    public long payments() {
        return number("SELECT count(*) FROM payment");
    }

    public long payments(String order) {
        return number("SELECT count(*) FROM payment WHERE order_id = '" + order + "'");
    }

    public long markers() {
        return number("SELECT count(*) FROM idem_marker");
    }

    public static void pay(Connection connection, String order) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("INSERT INTO payment (order_id) VALUES (?)")) {
            statement.setString(1, order);
            statement.executeUpdate();
        }
    }

    public static @Nullable Object nothing(Transaction tx) {
        tx.nothingToDo();
        return null;
    }

    @Override
    public void close() {
        pools.forEach(HikariDataSource::close);
        look.close();
        if (kind == Database.H2) {
            execute("SHUTDOWN");
        }
    }
}
