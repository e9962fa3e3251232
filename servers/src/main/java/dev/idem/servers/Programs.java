package dev.idem.servers;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Finds installed programs. */
final class Programs {
    private Programs() {}

    static Optional<Path> find(String name) {
        String path = System.getenv().getOrDefault("PATH", "");
        // Daemons live in sbin, which is often missing from the PATH of an ordinary account.
        return Stream.concat(Stream.of(path.split(File.pathSeparator)), Stream.of("/usr/local/sbin", "/usr/sbin"))
                .filter(directory -> !directory.isEmpty())
                .map(directory -> Path.of(directory, name))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
