package dev.idem.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A Kafka broker that is its own controller, in a JVM of its own with its own class path. It ends with {@link #close()} or
 * with this JVM, whichever comes first, and its data with it. Thread-safe.
 */
public final class KafkaServer implements AutoCloseable {
    private static @Nullable KafkaServer shared;

    private final ServerProcess process;
    private final Path directory;
    private final int port;

    private KafkaServer(ServerProcess process, Path directory, int port) {
        this.process = process;
        this.directory = directory;
        this.port = port;
    }

    public static KafkaServer start() {
        return start(Map.of());
    }

    /** Starts a broker with settings as in {@code server.properties}. Topics are not created by asking for them. */
    public static KafkaServer start(Map<String, String> settings) {
        String classPath = classPath();
        Path directory = ServerHome.newDirectory("kafka");
        Path log = directory.resolve("log");
        int port = FreePort.find();
        Path configuration = configure(directory, port, settings);
        ServerProcess.run(
                "kafka format",
                java(classPath, directory, "kafka.tools.StorageTool", "format", "-t", id(), "-c", "" + configuration),
                null,
                log);
        // SIGKILL, because an orderly end takes longer and the data is thrown away or must survive this anyway.
        var process = new ServerProcess(
                "Kafka", java(classPath, directory, "kafka.Kafka", configuration.toString()), log, "KILL");
        var server = new KafkaServer(process, directory, port);
        server.launch();
        return server;
    }

    /** The broker that all of this JVM shares; started when first asked for. */
    public static synchronized KafkaServer shared() {
        if (shared == null) {
            shared = start();
        }
        return shared;
    }

    /** What the build has written: the jars of the broker, which are on nobody else's class path. */
    private static String classPath() {
        try (var in = KafkaServer.class.getResourceAsStream("kafka.classpath")) {
            if (in == null) {
                throw new ServerUnavailable("The list of Kafka's jars is missing: build the module servers with Maven");
            }
            String jars = new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
            for (String jar : jars.split(":", -1)) {
                if (!Files.isReadable(Path.of(jar))) {
                    throw new ServerUnavailable("Kafka's " + jar + " is gone: build the module servers again");
                }
            }
            return jars;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path configure(Path directory, int port, Map<String, String> settings) {
        int controller = FreePort.find();
        Map<String, String> all = new LinkedHashMap<>();
        all.put("process.roles", "broker,controller");
        all.put("node.id", "1");
        all.put("controller.quorum.voters", "1@127.0.0.1:" + controller);
        all.put("controller.listener.names", "CONTROLLER");
        all.put("listeners", "PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controller);
        all.put("advertised.listeners", "PLAINTEXT://127.0.0.1:" + port);
        all.put("log.dirs", directory.resolve("data").toString());
        all.put("auto.create.topics.enable", "false");
        all.put("offsets.topic.replication.factor", "1");
        all.put("offsets.topic.num.partitions", "1");
        all.put("transaction.state.log.replication.factor", "1");
        all.put("transaction.state.log.num.partitions", "1");
        all.put("transaction.state.log.min.isr", "1");
        all.put("group.initial.rebalance.delay.ms", "0");
        // Otherwise a broker that was killed waits many seconds for its own former self.
        all.put("broker.session.timeout.ms", "1500");
        all.put("broker.heartbeat.interval.ms", "300");
        all.putAll(settings);
        String text = all.entrySet().stream()
                .map(e -> e.getKey() + "=" + e.getValue())
                .collect(Collectors.joining("\n"));
        try {
            return Files.writeString(directory.resolve("server.properties"), text + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException("Could not configure Kafka in " + directory, e);
        }
    }

    private static List<String> java(String classPath, Path directory, String... mainAndArguments) {
        var command = new ArrayList<String>();
        // In its own directory, by which a later JVM finds what a killed one has left.
        command.addAll(List.of("sh", "-c", "cd \"$0\" && exec \"$@\"", directory.toString()));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", classPath));
        command.addAll(List.of(mainAndArguments));
        return Account.current(command);
    }

    /** A cluster id, which Kafka wants as 22 characters of Base64. */
    private static String id() {
        UUID random = UUID.randomUUID();
        byte[] bytes = ByteBuffer.allocate(16)
                .putLong(random.getMostSignificantBits())
                .putLong(random.getLeastSignificantBits())
                .array();
        String text = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        return text.startsWith("-") ? id() : text;
    }

    private void launch() {
        process.start(() -> KafkaProbe.requireBroker(port));
    }

    /** What clients are given as {@code bootstrap.servers}. */
    public String address() {
        return "127.0.0.1:" + port;
    }

    public int port() {
        return port;
    }

    public long pid() {
        return process.pid();
    }

    /** What the broker prints; gone after {@link #close()}. */
    public Path log() {
        return process.log();
    }

    /** Kills the broker (SIGKILL). What it acknowledged must be there after {@link #restart()}. */
    public void killHard() {
        process.killHard();
    }

    /** Starts the broker on the same data and port; if it is running, stops it first. */
    public void restart() {
        process.stop();
        launch();
    }

    /** Freezes the broker (SIGSTOP): connections stay open and nothing answers. */
    public void pause() {
        process.pause();
    }

    public void resume() {
        process.resume();
    }

    @Override
    public void close() {
        process.stop();
        Trees.delete(directory);
    }
}
