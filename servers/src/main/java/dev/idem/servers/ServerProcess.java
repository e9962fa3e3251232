package dev.idem.servers;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One server's command, its process while it runs, and its log. Thread-safe. */
final class ServerProcess {
    private static final Duration START_LIMIT = Duration.ofMinutes(3);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);
    private static final int TAIL_LINES = 30;
    private static final Set<ServerProcess> LIVE = ConcurrentHashMap.newKeySet();

    // The kernel takes the death of the thread that forked for the death of the parent, so that thread must stay.
    private static final ExecutorService LAUNCHER = Executors.newSingleThreadExecutor(task -> {
        var thread = new Thread(task, "idem-servers-launcher");
        thread.setDaemon(true);
        return thread;
    });

    private final String name;
    private final List<String> command;
    private final Path log;
    private final String stopSignal;
    private @Nullable Process process;

    ServerProcess(String name, List<String> command, Path log, String stopSignal) {
        this.name = name;
        this.command = List.copyOf(command);
        this.log = log;
        this.stopSignal = stopSignal;
    }

    /** Starts the process and returns when {@code ready} no longer throws. */
    synchronized void start(Check ready) {
        if (process != null && process.isAlive()) {
            throw new IllegalStateException(name + " is already running");
        }
        LIVE.add(this);
        Process started = launch();
        process = started;
        long deadline = System.nanoTime() + START_LIMIT.toNanos();
        for (; ; ) {
            try {
                ready.run();
                return;
            } catch (Exception notYet) {
                if (!started.isAlive()) {
                    throw failure(name + " ended with code " + started.exitValue() + " while starting", notYet);
                }
                if (System.nanoTime() > deadline) {
                    killHard();
                    throw failure(name + " did not answer within " + START_LIMIT.toSeconds() + " s", notYet);
                }
                Waiting.shortly();
            }
        }
    }

    private Process launch() {
        try {
            return LAUNCHER.submit(builder(command, null, log)::start).get();
        } catch (ExecutionException e) {
            throw failure(name + " could not be run", e.getCause());
        } catch (InterruptedException e) {
            throw Waiting.interrupted(e);
        }
    }

    /** Runs a command that prepares a server, with its output in the server's log. */
    static void run(String name, List<String> command, @Nullable Path input, Path log) {
        try {
            // From the launcher's thread too: the kernel may end it when the caller's thread ends.
            Process process =
                    LAUNCHER.submit(builder(command, input, log)::start).get();
            if (!process.waitFor(START_LIMIT.toSeconds(), TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new ServerException(name + " failed" + tail(log), null);
            }
        } catch (ExecutionException e) {
            throw new ServerException(name + " could not be run", e.getCause());
        } catch (InterruptedException e) {
            throw Waiting.interrupted(e);
        }
    }

    private static ProcessBuilder builder(List<String> command, @Nullable Path input, Path log) {
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectInput(input == null ? new File("/dev/null") : input.toFile())
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    }

    synchronized long pid() {
        return running().parent().pid();
    }

    Path log() {
        return log;
    }

    /** Ends the process and its children as the loss of the machine would. */
    synchronized void killHard() {
        if (process == null) {
            return;
        }
        LIVE.remove(this);
        // A new server on the same data refuses to start while a child of the old one holds its shared memory.
        if (!new ProcessTree(process.toHandle()).kill(STOP_LIMIT)) {
            throw failure(name + " survived SIGKILL for " + STOP_LIMIT.toSeconds() + " s", null);
        }
    }

    /** Ends the process in its own way, and by force if that takes too long. */
    synchronized void stop() {
        if (process != null && process.isAlive()) {
            Process stopping = process;
            var tree = new ProcessTree(stopping.toHandle());
            tree.signalParent(stopSignal);
            tree.resume();
            Waiting.until(STOP_LIMIT, () -> !stopping.isAlive());
        }
        killHard();
    }

    synchronized void pause() {
        running().pause();
    }

    synchronized void resume() {
        running().resume();
    }

    static void stopAll() {
        LIVE.forEach(ServerProcess::stop);
    }

    private ProcessTree running() {
        if (process == null || !process.isAlive()) {
            throw new IllegalStateException(name + " is not running");
        }
        return new ProcessTree(process.toHandle());
    }

    private ServerException failure(String message, @Nullable Throwable cause) {
        return new ServerException(message + tail(log), cause);
    }

    private static String tail(Path log) {
        try {
            var lines = new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            var last = lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size());
            return "; its log ends:\n" + String.join("\n", last);
        } catch (IOException unreadable) {
            return "; its log " + log + " cannot be read";
        }
    }

    interface Check {
        void run() throws Exception;
    }
}
