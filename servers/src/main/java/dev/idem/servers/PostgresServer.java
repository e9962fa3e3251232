package dev.idem.servers;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A PostgreSQL server with durable commits, in UTF-8 and the C locale. Thread-safe. */
public final class PostgresServer extends DatabaseServer {
    private static final String USER = "postgres";
    private static @Nullable PostgresServer shared;

    private PostgresServer(ServerProcess process, Path directory, int port) {
        super(process, directory, port);
    }

    public static PostgresServer start() {
        return start(Map.of());
    }

    /** Starts a server with settings as in {@code postgresql.conf}. */
    public static PostgresServer start(Map<String, String> settings) {
        Path binaries = BinaryCache.unpacked(
                "postgres", "bin/postgres", directory -> Archives.unpackTar("postgres-linux-x86_64.txz", directory));
        Path directory = ServerHome.newDirectory("postgres");
        Path data = directory.resolve("data");
        Path log = directory.resolve("log");
        ServerProcess.run("initdb", Account.unprivileged(initialise(binaries, data)), null, log);
        int port = FreePort.find();
        // SIGQUIT: the data is thrown away or was killed anyway, so there is no reason to wait for a checkpoint.
        var process = new ServerProcess(
                "PostgreSQL", Account.unprivileged(serve(binaries, data, port, settings)), log, "QUIT");
        var server = new PostgresServer(process, directory, port);
        server.launch();
        return server;
    }

    /** The server that all of this JVM shares; started when first asked for. */
    public static synchronized PostgresServer shared() {
        if (shared == null) {
            shared = start();
        }
        return shared;
    }

    private static List<String> initialise(Path binaries, Path data) {
        String initdb = binaries.resolve("bin/initdb").toString();
        return List.of(
                initdb, "-D", data.toString(), "-U", USER, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync");
    }

    private static List<String> serve(Path binaries, Path data, int port, Map<String, String> settings) {
        var command = new ArrayList<String>();
        command.addAll(List.of(binaries.resolve("bin/postgres").toString(), "-D", data.toString()));
        command.addAll(List.of("-c", "port=" + port));
        command.addAll(List.of("-c", "listen_addresses=127.0.0.1"));
        command.addAll(List.of("-c", "unix_socket_directories="));
        command.addAll(List.of("-c", "max_connections=200"));
        // The default leaves a megabyte in the machine's memory for each killed server; files go with the data.
        command.addAll(List.of("-c", "dynamic_shared_memory_type=mmap"));
        settings.forEach((key, value) -> command.addAll(List.of("-c", key + "=" + value)));
        return command;
    }

    @Override
    public String user() {
        return USER;
    }

    @Override
    public String jdbcUrl(String database) {
        return "jdbc:postgresql://127.0.0.1:" + port() + "/" + database + "?user=" + USER;
    }

    @Override
    String maintenanceDatabase() {
        return "postgres";
    }

    @Override
    String createSql(String database) {
        // Unlike template1, template0 accepts no connections, and one connection would be enough to refuse the copy.
        return "CREATE DATABASE " + database + " TEMPLATE template0";
    }

    @Override
    String dropSql(String database) {
        return "DROP DATABASE IF EXISTS " + database + " WITH (FORCE)";
    }
}
