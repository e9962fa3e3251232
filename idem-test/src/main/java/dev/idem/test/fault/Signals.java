package dev.idem.test.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** POSIX signals, by way of the shell: its {@code kill} is built in, the program of that name may be missing. */
final class Signals {
    private static final long POLL_NANOS = 1_000_000;
    private static final int MOST_POLLS = 10_000;

    private Signals() {}

    /** Stops the process and returns when all its threads stand still, where the system can tell. */
    static void stop(long pid) throws InterruptedException {
        send("STOP", pid);
        for (int poll = 0; !standsStill(pid); poll++) {
            if (poll == MOST_POLLS) {
                throw new AssertionError("Process " + pid + " does not stop");
            }
            LockSupport.parkNanos(
                    POLL_NANOS); // the kernel stops the threads one by one and tells nobody but their parent
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    static void go(long pid) throws InterruptedException {
        send("CONT", pid);
    }

    static void quit(long pid) throws InterruptedException {
        send("QUIT", pid);
    }

    private static void send(String signal, long pid) throws InterruptedException {
        if (System.getProperty("os.name").startsWith("Windows")) {
            throw new UnsupportedOperationException("A process cannot be signalled on Windows");
        }
        try {
            int exit = new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pid)
                    .inheritIO()
                    .start()
                    .waitFor();
            if (exit != 0) {
                throw new IllegalStateException("Could not send SIG" + signal + " to process " + pid);
            }
        } catch (IOException failure) {
            throw new UncheckedIOException("Could not run sh to signal process " + pid, failure);
        }
    }

    private static boolean standsStill(long pid) {
        Path tasks = Path.of("/proc", Long.toString(pid), "task");
        if (!Files.isDirectory(tasks)) {
            return true;
        }
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
            for (Path thread : threads) {
                String stat = Files.readString(thread.resolve("stat"));
                // "pid (name) state …", and the name may contain anything
                if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
                    return false;
                }
            }
            return true;
        } catch (IOException threadEnded) {
            return false;
        }
    }
}
