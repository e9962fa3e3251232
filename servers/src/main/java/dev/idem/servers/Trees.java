package dev.idem.servers;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/** Whole directory trees. */
final class Trees {
    private Trees() {}

    /** Deletes as much of the tree as it can: what remains is removed by a later JVM. */
    static void delete(Path tree) {
        try {
            Files.walkFileTree(tree, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    return remove(file);
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException failure) {
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure) {
                    return remove(directory);
                }
            });
        } catch (IOException unreadable) {
            return;
        }
    }

    private static FileVisitResult remove(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException busy) {
            return FileVisitResult.CONTINUE;
        }
        return FileVisitResult.CONTINUE;
    }
}
