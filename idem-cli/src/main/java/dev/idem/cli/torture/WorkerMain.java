package dev.idem.cli.torture;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Settlement;
import dev.idem.jdbc.JdbcStore;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A worker JVM: stores what comes on stdin, answers on stdout, and works off the queues. To be killed. */
public final class WorkerMain {
    /** The environment variable with the database's address. */
    static final String URL = "IDEM_TORTURE_URL";

    static final String READY = "READY";
    static final String QUIT = "QUIT";

    /** A leased handler has written and not committed: the worst moment for a pause. */
    static final String IN_LONG_WORK = "LONG";

    private static final int RECEIVERS = 4;
    private static final int CONNECTIONS = 14;
    private static final long WAIT_MILLIS = 2_000;
    private static final long PAUSE_MILLIS = 50;

    private final PrintStream out =
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    private final Defect defect;
    private final Map<Mode, Consumer> consumers = new EnumMap<>(Mode.class);
    private final Inbox inbox;

    private WorkerMain(HikariDataSource pool, Defect defect) throws InterruptedException {
        this.defect = defect;
        Handling handling = new Handling(pool, defect, () -> say(IN_LONG_WORK));
        inbox = patiently(() -> Inbox.create(JdbcStore.create(defect.around(pool))));
        for (Mode mode : Mode.values()) {
            consumers.put(
                    mode,
                    Consumer.named(mode.consumer())
                            .key(defect.key())
                            .queued(mode.policy())
                            .otherwise(handling::handle)
                            .build());
        }
    }

    public static void main(String... args) throws Exception {
        Defect defect = Defect.valueOf(args[0]);
        try (HikariDataSource pool = pool(System.getenv(URL), defect)) {
            new WorkerMain(pool, defect).serve();
        }
    }

    private static HikariDataSource pool(String url, Defect defect) {
        var config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(CONNECTIONS);
        config.setMinimumIdle(1);
        config.setConnectionTimeout(WAIT_MILLIS);
        config.setInitializationFailTimeout(-1);
        config.setConnectionInitSql(defect.greeting());
        return new HikariDataSource(config);
    }

    private void serve() throws IOException, InterruptedException {
        for (Consumer consumer : consumers.values()) {
            patiently(() -> {
                inbox.start(consumer);
                return inbox;
            });
        }
        ExecutorService receivers = Executors.newFixedThreadPool(RECEIVERS);
        say(READY);
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); !QUIT.equals(line); line = in.readLine()) {
            if (line == null) {
                Runtime.getRuntime().halt(1); // the broker is gone, and this must not outlive it
                return;
            }
            String delivery = line;
            receivers.execute(() -> receive(delivery));
        }
        receivers.shutdown();
        receivers.awaitTermination(WAIT_MILLIS, TimeUnit.MILLISECONDS);
        inbox.close();
    }

    private void receive(String delivery) {
        int space = delivery.indexOf(' ');
        long tag = Long.parseLong(delivery.substring(0, space));
        List<Item> items = new ArrayList<>();
        for (String item : delivery.substring(space + 1).split(" ", -1)) {
            items.add(Item.parse(item));
        }
        if (defect == Defect.EARLY_ACK) {
            say(new Answer(tag, Collections.nCopies(items.size(), true)).line());
        }
        List<Boolean> acknowledged = acknowledged(items);
        if (defect != Defect.EARLY_ACK) {
            say(new Answer(tag, acknowledged).line());
        }
    }

    private List<Boolean> acknowledged(List<Item> items) {
        try {
            return inbox
                    .acceptAll(
                            consumer(items.get(0).mode()),
                            items.stream().map(defect::delivered).toList())
                    .stream()
                    .map(outcome -> outcome.settlement() == Settlement.ACK)
                    .toList();
        } catch (RuntimeException failure) {
            failure.printStackTrace();
            return Collections.nCopies(items.size(), false);
        }
    }

    private Consumer consumer(Mode mode) {
        Consumer consumer = consumers.get(mode);
        if (consumer == null) {
            throw new IllegalArgumentException("no consumer for " + mode);
        }
        return consumer;
    }

    /** One write for a line, which a pipe takes whole or not at all. */
    private synchronized void say(String line) {
        byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
        out.write(bytes, 0, bytes.length);
        out.flush();
    }

    /** A supervisor would start the process again until the database lets it in; this is the same, but faster. */
    private static Inbox patiently(Supplier<Inbox> start) throws InterruptedException {
        while (true) {
            try {
                return start.get();
            } catch (RuntimeException notYet) {
                Thread.sleep(PAUSE_MILLIS);
            }
        }
    }
}
