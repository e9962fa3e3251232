package dev.idem.servers;

import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.UUID;

/**
 * A running database server with data of its own on disk. It ends with {@link #close()} or with this JVM, whichever
 * comes first, and its data with it. Thread-safe.
 */
public abstract sealed class DatabaseServer implements AutoCloseable permits MariaDbServer, PostgresServer {
    private static final int CONNECT_LIMIT_SECONDS = 10;

    private final ServerProcess process;
    private final Path directory;
    private final int port;

    DatabaseServer(ServerProcess process, Path directory, int port) {
        this.process = process;
        this.directory = directory;
        this.port = port;
    }

    /** The account to log in with; it may do everything and needs no password. */
    public abstract String user();

    /** The address of a database of this server, complete with its user. */
    public abstract String jdbcUrl(String database);

    abstract String maintenanceDatabase();

    abstract String createSql(String database);

    abstract String dropSql(String database);

    public final int port() {
        return port;
    }

    public final long pid() {
        return process.pid();
    }

    /** What the server prints; gone after {@link #close()}. */
    public final Path log() {
        return process.log();
    }

    /** Creates an empty database and returns its name, which no other database of this server has had. */
    public final String createDatabase() {
        String name = "db_" + UUID.randomUUID().toString().replace("-", "").substring(0, 12);
        execute(createSql(name));
        return name;
    }

    public final void dropDatabase(String name) {
        execute(dropSql(name));
    }

    /** Kills the server with all its processes (SIGKILL). What it acknowledged must be there after {@link #restart()}. */
    public final void killHard() {
        process.killHard();
    }

    /** Starts the server on the same data and port; if it is running, stops it first. */
    public final void restart() {
        process.stop();
        launch();
    }

    /** Freezes the server (SIGSTOP): connections stay open and nothing answers. */
    public final void pause() {
        process.pause();
    }

    public final void resume() {
        process.resume();
    }

    @Override
    public final void close() {
        process.stop();
        Trees.delete(directory);
    }

    final void launch() {
        process.start(() -> execute("SELECT 1"));
    }

    private void execute(String sql) {
        DriverManager.setLoginTimeout(CONNECT_LIMIT_SECONDS);
        try (var connection = DriverManager.getConnection(jdbcUrl(maintenanceDatabase()));
                var statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new ServerException("Could not run " + sql + " on port " + port, e);
        }
    }
}
