package dev.idem.torture;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;

/** What a worker JVM and the campaign say to each other, in lines; and how a worker finds its database. Thread-safe. */
final class WorkerPipe {
    /** The environment variable with the database's address. */
    static final String URL = "IDEM_TORTURE_URL";

    static final String READY = "READY";
    static final String QUIT = "QUIT";

    /** A handler that takes its time has written and not committed: the worst moment for a pause. */
    static final String IN_LONG_WORK = "LONG";

    /** The number of an edit follows that has changed a statement. */
    static final String PLANTED = "PLANTED ";

    private static final int CONNECTIONS = 14;
    private static final long WAIT_MILLIS = 2_000;
    private static final long PAUSE_MILLIS = 50;

    private final PrintStream out =
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    WorkerPipe() {
        var reader = new Thread(this::read, "torture-pipe");
        reader.setDaemon(true);
        reader.start();
    }

    private void read() {
        try (var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                lines.add(line);
                if (line.equals(QUIT)) {
                    return;
                }
            }
        } catch (IOException broken) {
            // as good as the end
        }
        Runtime.getRuntime().halt(1); // the campaign is gone, and this must not outlive it
    }

    /** The next line; waits for it. */
    String next() throws InterruptedException {
        return lines.take();
    }

    /** One write for a line, which a pipe takes whole or not at all. */
    synchronized void say(String line) {
        byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
        out.write(bytes, 0, bytes.length);
        out.flush();
    }

    static HikariDataSource pool(Defect defect) {
        var config = new HikariConfig();
        config.setJdbcUrl(System.getenv(URL));
        config.setMaximumPoolSize(CONNECTIONS);
        config.setMinimumIdle(1);
        config.setConnectionTimeout(WAIT_MILLIS);
        config.setInitializationFailTimeout(-1);
        config.setConnectionInitSql(defect.greeting());
        return new HikariDataSource(config);
    }

    /** A supervisor would start the process again until the servers let it in; this is the same, but faster. */
    static <T> T patiently(Supplier<T> start) throws InterruptedException {
        while (true) {
            try {
                return start.get();
            } catch (RuntimeException notYet) {
                Thread.sleep(PAUSE_MILLIS);
            }
        }
    }
}
