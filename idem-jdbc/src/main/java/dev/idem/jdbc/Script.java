package dev.idem.jdbc;

import java.util.Arrays;
import java.util.List;

/** Splits our own schema files: comments stand on their own lines or behind a comma, statements end with ';'. */
final class Script {
    private Script() {}

    static List<String> statements(String script) {
        String bare = script.replaceAll("--[^\\n]*", "");
        return Arrays.stream(bare.split(";"))
                .map(String::strip)
                .filter(sql -> !sql.isEmpty())
                .toList();
    }
}
