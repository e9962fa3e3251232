package dev.idem.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where servers live: unpacked binaries for good, and one directory per JVM for data.
 *
 * <p>A JVM holds a file lock on its directory. One that was killed left its directory unlocked, and the next JVM removes
 * it together with any server that still runs in it. The place is {@code idem-servers-<uid>} in the temporary directory
 * unless the system property {@code idem.servers.home} names another.
 *
 * <p>With the system property {@code idem.servers.data=memory} data lies in memory where there is enough of it. A server
 * that is killed loses nothing there, and a test that commits ten thousand times does not wait ten thousand times for a disk.
 * Not for benchmarks, which measure that wait.
 */
final class ServerHome {
    static final String PROPERTY = "idem.servers.home";

    private static final String DATA = "idem.servers.data";
    private static final Path MEMORY = Path.of("/dev/shm");
    private static final long MEMORY_NEEDED = 4L << 30;

    private static final AtomicInteger SEQUENCE = new AtomicInteger();
    private static @Nullable Path runDirectory;

    @SuppressWarnings("unused") // Kept reachable: a collected channel would give up the lock.
    private static @Nullable FileLock runLock;

    private ServerHome() {}

    static Path root() {
        String property = System.getProperty(PROPERTY);
        return prepared(
                property != null
                        ? Path.of(property).toAbsolutePath()
                        : ofThisUser(Path.of(System.getProperty("java.io.tmpdir"))),
                PROPERTY);
    }

    private static Path dataRoot() throws IOException {
        boolean inMemory = "memory".equals(System.getProperty(DATA))
                && Files.isWritable(MEMORY)
                && Files.getFileStore(MEMORY).getUsableSpace() >= MEMORY_NEEDED;
        return inMemory ? prepared(ofThisUser(MEMORY), DATA) : root();
    }

    private static Path ofThisUser(Path parent) {
        return parent.resolve("idem-servers-" + Account.uid(Path.of("/proc/self")));
    }

    private static Path prepared(Path root, String property) {
        try {
            Files.createDirectories(root);
            checkOwner(root);
            checkReachable(root);
            return root;
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "Could not prepare " + root + "; set -D" + property + " to another place", e);
        }
    }

    /** A new directory that is removed when this JVM ends, and owned by whom servers run as. */
    static Path newDirectory(String name) {
        try {
            Path directory = runDirectory().resolve(name + "-" + SEQUENCE.incrementAndGet());
            Files.createDirectory(directory);
            Account.handOver(directory);
            return directory;
        } catch (IOException e) {
            throw new UncheckedIOException("Could not create a directory for " + name, e);
        }
    }

    private static synchronized Path runDirectory() throws IOException {
        if (runDirectory == null) {
            Path root = dataRoot();
            try (var channel = lockFile(root.resolve("run.lock"));
                    var ignored = channel.lock()) {
                removeAbandoned(root);
                Path directory = Files.createTempDirectory(root, "run-");
                Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
                runLock = lockFile(directory.resolve("lock")).lock();
                runDirectory = directory;
            }
            Path created = runDirectory;
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                ServerProcess.stopAll();
                Trees.delete(created);
            }));
        }
        return runDirectory;
    }

    static void removeAbandoned(Path root) throws IOException {
        List<Path> directories;
        try (Stream<Path> entries = Files.list(root)) {
            directories = entries.filter(entry -> entry.getFileName().toString().startsWith("run-"))
                    .toList();
        }
        for (Path directory : directories) {
            try (var channel = lockFile(directory.resolve("lock"));
                    var lock = channel.tryLock()) {
                if (lock != null) {
                    ProcessTree.killAllIn(directory);
                    Trees.delete(directory);
                }
            } catch (OverlappingFileLockException ours) {
                // Held under another class loader of this JVM, so not abandoned.
            } catch (NoSuchFileException gone) {
                // Its JVM has ended meanwhile and removed it.
            }
        }
    }

    static FileChannel lockFile(Path file) throws IOException {
        return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }

    private static void checkOwner(Path root) throws IOException {
        int owner = Account.uid(root);
        if (owner != Account.uid(Path.of("/proc/self"))) {
            throw new IOException("it belongs to uid " + owner + ", whose files are not to be run");
        }
    }

    private static void checkReachable(Path root) throws IOException {
        if (!Account.isRoot()) {
            return;
        }
        for (Path path = root.toRealPath(); path != null; path = path.getParent()) {
            if (!Files.getPosixFilePermissions(path).contains(PosixFilePermission.OTHERS_EXECUTE)) {
                throw new IOException(path + " is closed to the unprivileged account that servers run under");
            }
        }
    }
}
