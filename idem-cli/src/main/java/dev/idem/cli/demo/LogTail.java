package dev.idem.cli.demo;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The end of a consumer's log, which is removed with the demo's other files. */
final class LogTail {
    private static final int LINES = 3;

    private LogTail() {}

    static String of(Path log) {
        try {
            List<String> lines = new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("\tat ") && !line.isBlank())
                    .toList();
            if (lines.isEmpty()) {
                return "Its log is empty; run again with --verbose";
            }
            return "Its log ends: "
                    + String.join(" | ", lines.subList(Math.max(0, lines.size() - LINES), lines.size()));
        } catch (IOException unreadable) {
            return "Its log cannot be read";
        }
    }
}
