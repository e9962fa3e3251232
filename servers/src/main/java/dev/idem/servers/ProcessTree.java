package dev.idem.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A process and all its descendants, as the operating system sees them. */
record ProcessTree(ProcessHandle parent) {

    /** Kills all of them and returns whether they were gone within the limit. */
    boolean kill(Duration limit) {
        List<ProcessHandle> tree = all();
        tree.forEach(ProcessHandle::destroyForcibly);
        return Waiting.until(limit, () -> tree.stream().noneMatch(ProcessTree::runs));
    }

    void pause() {
        // The parent first, so that the list of its children stays complete.
        signal("STOP", List.of(parent));
        signal("STOP", all());
    }

    void resume() {
        signal("CONT", all());
    }

    void signalParent(String signal) {
        signal(signal, List.of(parent));
    }

    List<ProcessHandle> all() {
        return Stream.concat(Stream.of(parent), parent.descendants()).toList();
    }

    /** Kills what a JVM that was itself killed has left running below the directory. */
    static void killAllIn(Path directory) {
        ProcessHandle.allProcesses()
                .filter(handle -> worksIn(directory, handle))
                .forEach(ProcessHandle::destroyForcibly);
    }

    /** Unlike {@link ProcessHandle#isAlive()}, false for a process that only waits to be collected by its parent. */
    static boolean runs(ProcessHandle handle) {
        try {
            String stat = Files.readString(proc(handle, "stat"));
            return handle.isAlive() && stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
        } catch (IOException gone) {
            return false;
        }
    }

    static boolean worksIn(Path directory, ProcessHandle handle) {
        try {
            return Files.readSymbolicLink(proc(handle, "cwd")).startsWith(directory);
        } catch (IOException goneOrForeign) {
            return false;
        }
    }

    private static Path proc(ProcessHandle handle, String file) {
        return Path.of("/proc", Long.toString(handle.pid()), file);
    }

    private static void signal(String signal, List<ProcessHandle> handles) {
        String pids =
                handles.stream().map(handle -> Long.toString(handle.pid())).collect(Collectors.joining(" "));
        try {
            // Some of them may have ended meanwhile, which is no error.
            new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pids + " 2>/dev/null")
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException("Could not send SIG" + signal + " to " + pids, e);
        } catch (InterruptedException e) {
            throw Waiting.interrupted(e);
        }
    }
}
