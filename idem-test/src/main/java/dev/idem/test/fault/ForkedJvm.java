package dev.idem.test.fault;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * A second JVM on the class path of this one, to be killed or paused at the worst moment.
 *
 * <pre>{@code
 * try (ForkedJvm node = ForkedJvm.start(ConsumerMain.class, jdbcUrl)) {
 *     node.waitForLine("claimed"::equals, Duration.ofSeconds(20));
 *     node.killHard();
 * }
 * }</pre>
 *
 * <p>The child does not outlive its parent: {@link #close} and a shutdown hook kill it, and it halts by itself when its
 * standard input ends because the parent was killed (a paused child, only once it is resumed). Its main class therefore
 * finds an empty {@code System.in}. Standard output and error are collected as lines.
 *
 * <p>Thread-safe.
 */
public final class ForkedJvm implements AutoCloseable {
    private static final Duration KILL_LIMIT = Duration.ofSeconds(10);
    private static final Duration DUMP_LIMIT = Duration.ofSeconds(5);
    private static final String END_OF_DUMP = "JNI global ref";

    private final Process process;
    private final OutputLines output;
    private final Thread hook = new Thread(this::destroy, "idem-forked-jvm-cleanup");

    private ForkedJvm(Process process) {
        this.process = process;
        this.output = OutputLines.of(process);
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Starts a JVM that runs the {@code main} method of the given class, which need not be public. */
    public static ForkedJvm start(Class<?> main, String... args) {
        return start(List.of(), main, args);
    }

    /** Like {@link #start(Class, String...)}, with options for the JVM such as {@code -Xmx64m}. */
    public static ForkedJvm start(List<String> jvmOptions, Class<?> main, String... args) {
        List<String> command = ForkedMain.command(jvmOptions, requireNonNull(main, "main"), List.of(args));
        try {
            return new ForkedJvm(
                    new ProcessBuilder(command).redirectErrorStream(true).start());
        } catch (IOException failure) {
            throw new UncheckedIOException("Could not start a JVM for " + main.getName(), failure);
        }
    }

    /** The process id. */
    public long pid() {
        return process.pid();
    }

    /** Whether the process exists; true also while it is paused. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** All lines printed so far. */
    public List<String> lines() {
        return output.lines();
    }

    /**
     * The first line that matches, of those already printed and those to come.
     *
     * @throws AssertionError if it does not come in time, or the process ends without it; shows what was printed, and what
     *     the threads of the process do
     */
    public String waitForLine(Predicate<String> wanted, Duration limit) throws InterruptedException {
        try {
            return output.waitFor(wanted, limit);
        } catch (AssertionError missing) {
            throw isAlive() ? new AssertionError(missing.getMessage() + "\n" + threads(), missing) : missing;
        }
    }

    /** What the threads do: a JVM prints it when it is asked to quit, and goes on. */
    private String threads() throws InterruptedException {
        int before = lines().size();
        try {
            Signals.quit(process.pid());
            output.waitFor(line -> line.startsWith(END_OF_DUMP), DUMP_LIMIT);
        } catch (AssertionError | IllegalStateException | UnsupportedOperationException pausedOrGone) {
            return "It did not say what its threads do";
        }
        List<String> after = lines();
        return String.join("\n", after.subList(before, after.size()));
    }

    /**
     * Waits for the process to end by itself and returns its exit code; all it printed is then in {@link #lines()}.
     *
     * @throws AssertionError if it does not end in time; shows what was printed
     */
    public int waitForExit(Duration limit) throws InterruptedException {
        if (!process.waitFor(limit.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new AssertionError("Process %d still runs after %s; it printed: %s".formatted(pid(), limit, lines()));
        }
        output.waitForEnd(limit);
        return process.exitValue();
    }

    /** Kills the process without warning, as SIGKILL or a power cut would, and returns when it is gone. */
    public void killHard() throws InterruptedException {
        process.toHandle().destroyForcibly(); // unlike that of the process, it leaves the last lines readable
        waitForExit(KILL_LIMIT);
    }

    /**
     * Stops all threads of the process where they are, like a long garbage collection or a frozen machine, and returns
     * when they stand still. Its connections and locks stay.
     *
     * @throws UnsupportedOperationException on a system without POSIX signals
     */
    public void pause() throws InterruptedException {
        Signals.stop(process.pid());
    }

    /** Lets a paused process go on. */
    public void resume() throws InterruptedException {
        Signals.go(process.pid());
    }

    /** Kills the process and those it started, if they still run. */
    @Override
    public void close() {
        destroy();
        try {
            if (!process.waitFor(KILL_LIMIT.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new AssertionError("Process " + pid() + " cannot be killed");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException alreadyShuttingDown) {
            return; // the hook does no harm
        }
    }

    private void destroy() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.toHandle().destroyForcibly();
    }
}
