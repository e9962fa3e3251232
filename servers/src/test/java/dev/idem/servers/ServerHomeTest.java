package dev.idem.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerHomeTest {
    @Test
    void whatAnotherJvmRemovesAtTheSameTimeIsPassedOver(@TempDir Path root) throws Exception {
        Path abandoned = Files.createDirectory(root.resolve("run-1"));
        Files.createFile(abandoned.resolve("lock"));
        Files.createSymbolicLink(
                root.resolve("run-2"), root.resolve("gone")); // listed, but not there when it is opened
        ServerHome.removeAbandoned(root);
        assertThat(abandoned).doesNotExist();
    }
}
