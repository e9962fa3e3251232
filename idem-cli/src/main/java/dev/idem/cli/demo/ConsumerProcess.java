package dev.idem.cli.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The broker's side of one life of a consumer JVM. Used by one thread. */
final class ConsumerProcess {
    private final Process process;
    private final Writer in;
    private final Thread reader;
    private final BlockingQueue<Answer> answers = new LinkedBlockingQueue<>();

    private ConsumerProcess(Process process) {
        this.process = process;
        this.in = process.outputWriter(StandardCharsets.UTF_8);
        this.reader = new Thread(this::read, "consumer-" + process.pid());
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts a small JVM with the class path of this one; its stderr goes to the log. */
    static ConsumerProcess start(
            Children children,
            Class<?> main,
            SeatKind seat,
            Map<String, String> environment,
            Path log,
            boolean verbose) {
        var builder = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xms32m",
                        "-Xmx128m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xshare:auto",
                        "-D" + ConsumerMain.VERBOSE + "=" + verbose,
                        main.getName(),
                        seat.name()))
                .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().putAll(environment);
        // In the environment and not as an option: it may be longer than a command line may be.
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        try {
            return new ConsumerProcess(children.start(builder));
        } catch (IOException e) {
            throw new UncheckedIOException("The consumer could not be started", e);
        }
    }

    void deliver(Delivery delivery) {
        write(delivery.line());
    }

    /** Lets it stop there, and say so, as soon as it can. */
    void arm(CrashWindow window) {
        write(ListenerMain.ARM + window);
    }

    /** The next thing it says, or null if it says nothing for so long. */
    @Nullable
    Answer next(Duration limit) throws InterruptedException {
        return answers.poll(limit.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Kills it (SIGKILL), and returns when it is dead and all it said before can be taken by {@link #next}. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
        reader.join();
    }

    /** Lets it end by itself, so that it closes its database. */
    void quit(Duration limit) throws InterruptedException {
        write(ConsumerMain.QUIT);
        if (!process.waitFor(limit.toNanos(), TimeUnit.NANOSECONDS)) {
            kill();
        }
        reader.join();
    }

    private void write(String line) {
        try {
            in.write(line + "\n");
            in.flush();
        } catch (IOException dead) {
            // It has ended, which the reader tells.
        }
    }

    private void read() {
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                Answer.parse(line).ifPresent(answers::add);
            }
        } catch (IOException dead) {
            // As good as the end.
        }
        answers.add(new Answer.Gone());
    }
}
