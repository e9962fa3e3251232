package dev.idem.jdbc;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where the whole project is, from wherever a test runs. */
final class ProjectRoot {
    private ProjectRoot() {}

    static Path find() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(folder.resolve("idem-bom"))) {
            folder = folder.getParent();
        }
        return folder;
    }
}
