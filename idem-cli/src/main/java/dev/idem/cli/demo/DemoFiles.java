package dev.idem.cli.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A temporary directory that is gone after {@link #close}. */
public final class DemoFiles implements AutoCloseable {
    private final Path directory;

    public DemoFiles() {
        try {
            directory = Files.createTempDirectory("idem-demo-");
        } catch (IOException e) {
            throw new UncheckedIOException("No temporary directory could be made", e);
        }
    }

    public Path directory() {
        return directory;
    }

    /** Goes on after a failure: two threads may be here when the user interrupts the demo. */
    @Override
    public void close() {
        List<Path> deepestFirst;
        try (Stream<Path> tree = Files.walk(directory)) {
            deepestFirst = tree.sorted(Comparator.reverseOrder()).toList();
        } catch (IOException | UncheckedIOException gone) {
            return;
        }
        for (Path path : deepestFirst) {
            try {
                Files.deleteIfExists(path);
            } catch (IOException left) {
                // The temporary directory is cleaned by others too.
            }
        }
    }
}
