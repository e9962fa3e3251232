package dev.idem.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The account that servers run under. PostgreSQL and PgBouncer refuse root, so root hands them to an account that owns
 * nothing else.
 */
final class Account {
    private static final int NOBODY = 65_534;
    private static final boolean ROOT = uid(Path.of("/proc/self")) == 0;

    private Account() {}

    static boolean isRoot() {
        return ROOT;
    }

    static int uid(Path path) {
        try {
            return (Integer) Files.getAttribute(path, "unix:uid");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The command as the current account. */
    static List<String> current(List<String> command) {
        return prefixed(List.of(), command);
    }

    /** The command as the current account, or as nobody if that is root. */
    static List<String> unprivileged(List<String> command) {
        return prefixed(
                ROOT ? List.of("--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups") : List.of(), command);
    }

    /** Makes the directory usable by a server that runs unprivileged. */
    static void handOver(Path directory) throws IOException {
        if (ROOT) {
            Files.setAttribute(directory, "unix:uid", NOBODY);
            Files.setAttribute(directory, "unix:gid", NOBODY);
        }
    }

    private static List<String> prefixed(List<String> options, List<String> command) {
        if (Programs.find("setpriv").isEmpty()) {
            if (options.isEmpty()) {
                return command;
            }
            throw new ServerUnavailable(
                    "setpriv is missing, without which root cannot start this server: apt-get install util-linux");
        }
        var line = new ArrayList<String>();
        line.add("setpriv");
        line.addAll(options);
        // A JVM that is killed runs no shutdown hook; the kernel ends its servers then.
        line.addAll(List.of("--pdeathsig", "KILL"));
        line.addAll(command);
        return line;
    }
}
