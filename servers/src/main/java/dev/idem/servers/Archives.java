package dev.idem.servers;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.jar.JarEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.tukaani.xz.XZInputStream;

/** Unpacks what comes in jars: the tar of PostgreSQL, the plain files of MariaDB. */
final class Archives {
    private static final int EXECUTABLE = 0100;

    private Archives() {}

    static void unpackTar(String resource, Path directory) throws IOException {
        try (InputStream in = resource(resource).openStream();
                var tar = new TarArchiveInputStream(new XZInputStream(new BufferedInputStream(in)))) {
            for (TarArchiveEntry entry; (entry = tar.getNextEntry()) != null; ) {
                Path path = within(directory, entry.getName());
                if (entry.isDirectory()) {
                    Files.createDirectories(path);
                } else if (entry.isSymbolicLink()) {
                    Files.createDirectories(path.getParent());
                    Files.createSymbolicLink(path, Path.of(entry.getLinkName()));
                } else {
                    write(tar, path, (entry.getMode() & EXECUTABLE) != 0);
                }
            }
        }
    }

    /** Copies the program and its {@code share} files from below {@code prefix} of the jar in which they lie. */
    static void unpackJar(String prefix, String program, Path directory) throws IOException {
        var connection = (JarURLConnection) resource(prefix + program).openConnection();
        connection.setUseCaches(false);
        try (var jar = connection.getJarFile()) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                String name = entry.getName();
                boolean isProgram = name.equals(prefix + program);
                if (entry.isDirectory() || !(isProgram || name.startsWith(prefix + "share/"))) {
                    continue;
                }
                try (InputStream in = jar.getInputStream(entry)) {
                    write(in, within(directory, name.substring(prefix.length())), isProgram);
                }
            }
        }
    }

    private static void write(InputStream in, Path path, boolean executable) throws IOException {
        Files.createDirectories(path.getParent());
        Files.copy(in, path);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(executable ? "rwxr-xr-x" : "rw-r--r--"));
    }

    private static Path within(Path directory, String name) throws IOException {
        Path path = directory.resolve(name).normalize();
        if (!path.startsWith(directory)) {
            throw new IOException("Archive entry " + name + " leads out of " + directory);
        }
        return path;
    }

    private static URL resource(String name) {
        URL url = Archives.class.getClassLoader().getResource(name);
        if (url == null) {
            throw new ServerUnavailable("Resource " + name + " is missing from the classpath");
        }
        return url;
    }
}
