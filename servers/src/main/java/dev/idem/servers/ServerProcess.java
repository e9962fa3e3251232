package dev.idem.servers;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The operating system's side of one server: a command, its process with all children, and its log. */
final class ServerProcess {
    private static final Duration START_LIMIT = Duration.ofSeconds(60);
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

    /** Runs a command that prepares a server, with its output in the server's log. */
    static void run(String name, List<String> command, @Nullable Path input, Path log) {
        var builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectInput(input == null ? new File("/dev/null") : input.toFile())
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        try {
            Process process = builder.start();
            if (!process.waitFor(START_LIMIT.toSeconds(), TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new ServerException(name + " failed" + tail(log), null);
            }
        } catch (IOException e) {
            throw new ServerException(name + " could not be run", e);
        } catch (InterruptedException e) {
            throw Waiting.interrupted(e);
        }
    }

    private Process launch() {
        var builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectInput(new File("/dev/null"))
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        try {
            return LAUNCHER.submit(builder::start).get();
        } catch (ExecutionException e) {
            throw failure(name + " could not be run", e.getCause());
        } catch (InterruptedException e) {
            throw Waiting.interrupted(e);
        }
    }

    synchronized boolean isRunning() {
        return process != null && process.isAlive();
    }

    synchronized long pid() {
        return running().pid();
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
        List<ProcessHandle> tree = tree(process.toHandle());
        tree.forEach(ProcessHandle::destroyForcibly);
        // A new server on the same data refuses to start while a child of the old one holds its shared memory.
        if (!Waiting.until(STOP_LIMIT, () -> tree.stream().noneMatch(ProcessHandle::isAlive))) {
            throw failure(name + " survived SIGKILL for " + STOP_LIMIT.toSeconds() + " s", null);
        }
    }

    /** Ends the process in its own way, and by force if that takes too long. */
    synchronized void stop() {
        if (process != null && process.isAlive()) {
            signal(stopSignal, List.of(process.toHandle()));
            signal("CONT", tree(process.toHandle()));
            Process stopping = process;
            Waiting.until(STOP_LIMIT, () -> !stopping.isAlive());
        }
        killHard();
    }

    synchronized void pause() {
        ProcessHandle parent = running().toHandle();
        // The parent first, so that the list of its children stays complete.
        signal("STOP", List.of(parent));
        signal("STOP", tree(parent));
    }

    synchronized void resume() {
        signal("CONT", tree(running().toHandle()));
    }

    private Process running() {
        if (process == null || !process.isAlive()) {
            throw new IllegalStateException(name + " is not running");
        }
        return process;
    }

    static void stopAll() {
        LIVE.forEach(ServerProcess::stop);
    }

    /** Kills what a JVM that was itself killed has left running below the directory. */
    static void killAllIn(Path directory) {
        ProcessHandle.allProcesses()
                .filter(handle -> worksIn(directory, handle))
                .forEach(ProcessHandle::destroyForcibly);
    }

    private static boolean worksIn(Path directory, ProcessHandle handle) {
        try {
            return Files.readSymbolicLink(Path.of("/proc", Long.toString(handle.pid()), "cwd"))
                    .startsWith(directory);
        } catch (IOException goneOrForeign) {
            return false;
        }
    }

    private static List<ProcessHandle> tree(ProcessHandle parent) {
        return Stream.concat(Stream.of(parent), parent.descendants()).toList();
    }

    private static void signal(String signal, List<ProcessHandle> handles) {
        String pids = String.join(
                " ", handles.stream().map(handle -> Long.toString(handle.pid())).toList());
        try {
            new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pids + " 2>/dev/null")
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw Waiting.interrupted(e);
        }
    }

    private ServerException failure(String message, @Nullable Throwable cause) {
        return new ServerException(message + tail(log), cause);
    }

    private static String tail(Path log) {
        try {
            List<String> lines = new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            List<String> last = lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size());
            return "; its log ends:\n" + String.join("\n", last);
        } catch (IOException e) {
            return "; its log " + log + " cannot be read";
        }
    }

    interface Check {
        void run() throws Exception;
    }
}
