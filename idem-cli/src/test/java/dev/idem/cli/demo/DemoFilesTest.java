package dev.idem.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("quick")
class DemoFilesTest {
    @Test
    void nothingIsLeftAndClosingTwiceIsFine() throws IOException {
        var files = new DemoFiles();
        Files.writeString(files.directory().resolve("idem.log"), "text");

        files.close();
        files.close();

        assertThat(files.directory()).doesNotExist();
    }
}
