package dev.idem.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A RabbitMQ broker with data of its own on disk, from Debian's package. Its user is {@code guest} with the password
 * {@code guest}. It ends with {@link #close()} or with this JVM, whichever comes first. Thread-safe.
 */
public final class RabbitServer implements AutoCloseable {
    /** The script itself: the one in the PATH changes to an account that owns the machine's broker. */
    private static final Path PROGRAM = Path.of("/usr/lib/rabbitmq/bin/rabbitmq-server");

    private static final String NODE = "idem@localhost";
    private static final String COOKIE = "idem";
    private static final int CONNECT_LIMIT_MILLIS = 2_000;
    private static final byte[] PROTOCOL_HEADER = {'A', 'M', 'Q', 'P', 0, 0, 9, 1};
    private static @Nullable RabbitServer shared;

    private final ServerProcess names;
    private final ServerProcess broker;
    private final ErlangCall calls;
    private final Path directory;
    private final int port;
    private volatile boolean killed;

    private RabbitServer(ServerProcess names, ServerProcess broker, ErlangCall calls, Path directory, int port) {
        this.names = names;
        this.broker = broker;
        this.calls = calls;
        this.directory = directory;
        this.port = port;
    }

    /** Whether {@link #start} can succeed here. */
    public static boolean available() {
        return Files.isExecutable(PROGRAM) && epmd().isPresent();
    }

    public static RabbitServer start() {
        return start(Map.of());
    }

    /**
     * Starts a broker with settings as in {@code rabbitmq.conf}.
     *
     * @throws ServerUnavailable if RabbitMQ is not installed
     */
    public static RabbitServer start(Map<String, String> settings) {
        Path epmd = epmd().filter(found -> available())
                .orElseThrow(() -> new ServerUnavailable("RabbitMQ is not installed: apt-get install rabbitmq-server"));
        Path directory = ServerHome.newDirectory("rabbitmq");
        int port = FreePort.find();
        int namesPort = FreePort.find();
        int nodesPort = FreePort.find();
        configure(directory, port, settings);
        Path log = directory.resolve("log");
        // Left to itself, Erlang starts its name server as a daemon, which outlives everything.
        var names = new ServerProcess(
                "epmd",
                inDirectory(directory, List.of(), command(epmd, namesPort)),
                directory.resolve("epmd.log"),
                "KILL");
        var broker = new ServerProcess(
                "RabbitMQ",
                inDirectory(directory, environment(directory, namesPort, nodesPort), List.of(PROGRAM.toString())),
                log,
                "TERM");
        var calls = new ErlangCall(epmd.resolveSibling("erl_call"), nodesPort, COOKIE);
        var server = new RabbitServer(names, broker, calls, directory, port);
        names.start(() -> connect(namesPort).close());
        server.launch();
        return server;
    }

    /**
     * The broker that all of this JVM shares; started when first asked for. One that was killed is replaced: quorum queues of
     * RabbitMQ 3.10 sometimes cannot be declared any more after that, by nobody.
     */
    public static synchronized RabbitServer shared() {
        if (shared != null && shared.killed) {
            shared.close();
            shared = null;
        }
        if (shared == null) {
            shared = start();
        }
        return shared;
    }

    private static Optional<Path> epmd() {
        return Programs.find("epmd").map(RabbitServer::real);
    }

    private static Path real(Path program) {
        try {
            return program.toRealPath();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> command(Path epmd, int port) {
        return List.of(epmd.toString(), "-port", Integer.toString(port), "-address", "127.0.0.1");
    }

    /** In the directory, by which a later JVM recognises what a killed one has left running. */
    private static List<String> inDirectory(Path directory, List<String> variables, List<String> command) {
        var line = new ArrayList<>(List.of("env", "-C", directory.toString()));
        line.addAll(variables);
        line.addAll(command);
        return Account.unprivileged(line);
    }

    private static List<String> environment(Path directory, int namesPort, int nodesPort) {
        return List.of(
                "HOME=" + directory,
                "RABBITMQ_NODENAME=" + NODE,
                "RABBITMQ_MNESIA_BASE=" + directory.resolve("data"),
                "RABBITMQ_LOG_BASE=" + directory,
                "RABBITMQ_CONFIG_FILE=" + directory.resolve("rabbitmq.conf"),
                "RABBITMQ_ENABLED_PLUGINS_FILE=" + directory.resolve("enabled_plugins"),
                "RABBITMQ_CONF_ENV_FILE=" + directory.resolve("absent"),
                "RABBITMQ_PID_FILE=" + directory.resolve("pid"),
                "RABBITMQ_DIST_PORT=" + nodesPort,
                "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-setcookie " + COOKIE,
                // Makes the script become the broker instead of starting it as a child.
                "RUNNING_UNDER_SYSTEMD=true",
                "ERL_EPMD_PORT=" + namesPort,
                "ERL_EPMD_ADDRESS=127.0.0.1");
    }

    private static void configure(Path directory, int port, Map<String, String> settings) {
        var text = new StringBuilder("""
                listeners.tcp.1 = 127.0.0.1:%d
                log.file = false
                log.console = true
                vm_memory_high_watermark.absolute = 512MB
                disk_free_limit.absolute = 50MB
                """.formatted(port));
        settings.forEach(
                (key, value) -> text.append(key).append(" = ").append(value).append('\n'));
        try {
            Files.writeString(directory.resolve("rabbitmq.conf"), text);
            Files.writeString(directory.resolve("enabled_plugins"), "[].\n");
        } catch (IOException e) {
            throw new UncheckedIOException("Could not configure RabbitMQ in " + directory, e);
        }
    }

    public String host() {
        return "127.0.0.1";
    }

    public int port() {
        return port;
    }

    public long pid() {
        return broker.pid();
    }

    /** What the broker prints; gone after {@link #close()}. */
    public Path log() {
        return broker.log();
    }

    /** How many messages a queue has: those that wait, and those delivered and not acknowledged. */
    public long messages(String queue) {
        return calls.number("""
                {ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"%s">>)),
                [{messages, N}] = rabbit_amqqueue:info(Q, [messages]), N.
                """.formatted(queue));
    }

    /** Ends all connections of clients without a word about their channels, as a lost network would. */
    public void closeConnections() {
        calls.number("length([exit(P, kill) || P <- rabbit_networking:connections()]).\n");
    }

    /** Writes to disk which durable queues there are; by itself the broker does that a moment after it has confirmed them. */
    public void flushQueues() {
        calls.number("mnesia:sync_log(), 0.\n");
    }

    /** Raises the alarm of a broker that is short of memory, which blocks all who publish, or ends it. */
    public void memoryAlarm(boolean raised) {
        calls.number("vm_memory_monitor:set_vm_memory_high_watermark(%s), 0.\n"
                .formatted(raised ? "0.00001" : "{absolute, \"512MB\"}"));
    }

    /** Kills the broker (SIGKILL). What it confirmed must be there after {@link #restart()}. */
    public void killHard() {
        killed = true;
        broker.killHard();
    }

    /** Starts the broker on the same data and port; if it is running, stops it first. */
    public void restart() {
        broker.stop();
        launch();
    }

    /** Freezes the broker (SIGSTOP): connections stay open and nothing answers. */
    public void pause() {
        broker.pause();
    }

    public void resume() {
        broker.resume();
    }

    @Override
    public void close() {
        broker.killHard();
        names.stop();
        Trees.delete(directory);
    }

    private void launch() {
        broker.start(() -> {
            try (Socket socket = connect(port)) {
                socket.setSoTimeout(CONNECT_LIMIT_MILLIS);
                socket.getOutputStream().write(PROTOCOL_HEADER);
                byte[] answer = socket.getInputStream().readNBytes(1);
                if (answer.length == 0 || new String(answer, StandardCharsets.US_ASCII).equals("A")) {
                    throw new IOException("no AMQP 0-9-1 on port " + port);
                }
            }
        });
    }

    private static Socket connect(int port) throws IOException {
        var socket = new Socket();
        try {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_LIMIT_MILLIS);
            return socket;
        } catch (IOException refused) {
            socket.close();
            throw refused;
        }
    }
}
