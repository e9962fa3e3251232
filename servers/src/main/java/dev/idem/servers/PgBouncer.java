package dev.idem.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.util.List;

/** A PgBouncer connection pool in front of a PostgreSQL server. Thread-safe. */
public final class PgBouncer implements AutoCloseable {
    private static final String PROGRAM = "pgbouncer";

    private final ServerProcess process;
    private final Path directory;
    private final int port;
    private final String options;

    private PgBouncer(ServerProcess process, Path directory, int port, String options) {
        this.process = process;
        this.directory = directory;
        this.port = port;
        this.options = options;
    }

    /** Whether {@link #start} can succeed here. */
    public static boolean available() {
        return Programs.find(PROGRAM).isPresent();
    }

    /**
     * Starts a pool.
     *
     * @param poolMode {@code session}, {@code transaction} or {@code statement}
     * @param poolSize the most connections to the server, per database
     * @throws ServerUnavailable if PgBouncer is not installed
     */
    public static PgBouncer start(PostgresServer server, String poolMode, int poolSize) {
        String program = Programs.find(PROGRAM)
                .orElseThrow(() -> new ServerUnavailable("PgBouncer is not installed: apt-get install pgbouncer"))
                .toString();
        Path directory = ServerHome.newDirectory(PROGRAM);
        int port = FreePort.find();
        Path configuration = configure(server, directory, port, poolMode, poolSize);
        var process = new ServerProcess(
                "PgBouncer",
                Account.unprivileged(List.of(program, configuration.toString())),
                directory.resolve("log"),
                "KILL");
        // Before 1.21, PgBouncer lends one client's prepared statements to the next unless it keeps the session.
        String options = "?user=" + server.user() + (poolMode.equals("session") ? "" : "&prepareThreshold=0");
        var bouncer = new PgBouncer(process, directory, port, options);
        process.start(
                () -> DriverManager.getConnection(bouncer.jdbcUrl("postgres")).close());
        return bouncer;
    }

    private static Path configure(PostgresServer server, Path directory, int port, String poolMode, int poolSize) {
        try {
            Path users = Files.writeString(directory.resolve("users.txt"), "\"" + server.user() + "\" \"\"\n");
            return Files.writeString(directory.resolve("pgbouncer.ini"), """
                    [databases]
                    * = host=127.0.0.1 port=%d

                    [pgbouncer]
                    listen_addr = 127.0.0.1
                    listen_port = %d
                    unix_socket_dir =
                    auth_type = trust
                    auth_file = %s
                    admin_users = %s
                    pool_mode = %s
                    default_pool_size = %d
                    max_client_conn = 500
                    ignore_startup_parameters = extra_float_digits
                    """.formatted(
                            server.port(), port, users, server.user(), poolMode, poolSize));
        } catch (IOException e) {
            throw new UncheckedIOException("Could not configure PgBouncer in " + directory, e);
        }
    }

    public int port() {
        return port;
    }

    public long pid() {
        return process.pid();
    }

    /** What PgBouncer prints; gone after {@link #close()}. */
    public Path log() {
        return process.log();
    }

    /** The address of a database of the server through this pool, complete with its user. */
    public String jdbcUrl(String database) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/" + database + options;
    }

    @Override
    public void close() {
        process.stop();
        Trees.delete(directory);
    }
}
