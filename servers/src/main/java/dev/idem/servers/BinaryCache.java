package dev.idem.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Properties;

/**
 * Server binaries, unpacked once per version. Any number of JVMs may ask at once: one unpacks under a file lock into a
 * directory beside the final one, and the rename makes it visible whole or not at all.
 */
final class BinaryCache {
    private static final Properties VERSIONS = versions();

    private BinaryCache() {}

    /** The directory of the server's binaries, in which {@code program} is one. */
    static synchronized Path unpacked(String server, String program, Unpacker unpacker) {
        requireLinuxOnX64(server);
        Path root = ServerHome.root();
        String name = server + "-" + version(server);
        Path target = root.resolve(name);
        try {
            // The program, not the directory: cleaners of temporary directories take old files and leave the rest.
            if (Files.isExecutable(target.resolve(program))) {
                return target;
            }
            try (var channel = ServerHome.lockFile(root.resolve(name + ".lock"));
                    var ignored = channel.lock()) {
                if (!Files.isExecutable(target.resolve(program))) {
                    Path partial = root.resolve(name + ".partial");
                    Trees.delete(target);
                    Trees.delete(partial);
                    unpacker.unpackTo(Files.createDirectory(partial));
                    Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE);
                }
            }
            return target;
        } catch (IOException e) {
            throw new UncheckedIOException("Could not unpack " + name + " into " + root, e);
        }
    }

    static String version(String server) {
        return VERSIONS.getProperty(server);
    }

    private static void requireLinuxOnX64(String server) {
        String machine = System.getProperty("os.name") + " on " + System.getProperty("os.arch");
        if (!machine.equals("Linux on amd64")) {
            throw new ServerUnavailable("The " + server + " binaries are for Linux on amd64, this is " + machine);
        }
    }

    private static Properties versions() {
        try (InputStream in = BinaryCache.class.getResourceAsStream("versions.properties")) {
            var versions = new Properties();
            versions.load(in);
            return versions;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    interface Unpacker {
        void unpackTo(Path directory) throws IOException;
    }
}
