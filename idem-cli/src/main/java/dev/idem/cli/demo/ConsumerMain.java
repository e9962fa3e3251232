package dev.idem.cli.demo;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.cli.Logging;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A consumer JVM: takes deliveries from stdin with a few threads, and answers on stdout. */
public final class ConsumerMain {
    /** The environment variable with the database's address; on the command line anybody could read the password. */
    static final String URL = "IDEM_DEMO_URL";

    static final String QUIT = "QUIT";
    static final String VERBOSE = "idem.verbose";
    static final int WORKERS = 4;

    private ConsumerMain() {}

    public static void main(String... args) throws IOException {
        Logging.configure(Boolean.getBoolean(VERBOSE));
        var answers = new Answers(new FileOutputStream(FileDescriptor.out));
        System.setOut(System.err); // whatever a library prints must not look like an answer
        Thread.setDefaultUncaughtExceptionHandler(ConsumerMain::crash);
        try (HikariDataSource pool = pool(System.getenv(URL));
                Seat seat = SeatKind.valueOf(args[0]).open(pool, new Charges(answers))) {
            serve(seat, answers);
        }
    }

    private static void serve(Seat seat, Answers answers) throws IOException {
        ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
        answers.send(new Answer.Ready());
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); !QUIT.equals(line); line = in.readLine()) {
            if (line == null) {
                Runtime.getRuntime().halt(1); // the broker is gone, and this must not outlive it
                return;
            }
            Delivery delivery = Delivery.parse(line);
            workers.execute(() -> {
                Answer.Settled settled = seat.take(delivery);
                answers.pass(CrashWindow.BEFORE_ACK, delivery);
                answers.send(settled);
            });
        }
        await(workers);
    }

    /** A delivery without an answer would wait for ever; a dead process is noticed. */
    @SuppressWarnings("CatchAndPrintStackTrace")
    static void crash(Thread thread, Throwable error) {
        error.printStackTrace();
        Runtime.getRuntime().halt(1);
    }

    private static void await(ExecutorService workers) {
        workers.shutdown();
        try {
            if (!workers.awaitTermination(10, TimeUnit.SECONDS)) {
                workers.shutdownNow();
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    static HikariDataSource pool(String url) {
        var config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(2 * WORKERS + 2); // those who receive, those who work off, and their care
        config.setMinimumIdle(1);
        return new HikariDataSource(config);
    }
}
