package dev.idem.cli.newcomer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A page of the documentation, and the marked blocks in it. */
record Page(String name, String text) {
    /** The source tree this test is run in. */
    static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(folder.resolve("idem-bom"))) {
            folder = folder.getParent();
        }
        return folder;
    }

    static Page of(String name) {
        try {
            return new Page(name, Files.readString(root().resolve(name)));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** What stands between the fences behind {@code <!-- mark -->}. */
    String block(String mark) {
        Matcher block = Pattern.compile("(?s)<!-- " + Pattern.quote(mark) + " -->\\s*```\\w+\\n(.*?)```")
                .matcher(text);
        if (!block.find()) {
            throw new AssertionError(name + " has no block marked " + mark);
        }
        return block.group(1);
    }
}
