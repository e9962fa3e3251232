package dev.idem.cli;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;

/**
 * Texts of messages for a terminal. They come from strangers: whatever could move the cursor, change colours, hide or turn
 * text, or begin a new line is shown as an escape.
 */
public final class Printable {
    private Printable() {}

    public static String line(String text) {
        StringBuilder line = new StringBuilder(text.length());
        text.codePoints().forEach(c -> append(line, c));
        return line.toString();
    }

    /** Cut where it becomes too long for a line. */
    public static String line(String text, int longest) {
        String line = line(text.length() > longest ? text.substring(0, longest) : text);
        return line.length() > longest || text.length() > longest
                ? line.substring(0, Math.min(line.length(), longest)) + "…"
                : line;
    }

    /** The lines of a stack trace, which stay lines and keep their indentation. */
    public static String trace(String text) {
        StringBuilder trace = new StringBuilder(text.length());
        text.lines().forEach(line -> {
            int tabs = 0;
            while (tabs < line.length() && line.charAt(tabs) == '\t') {
                tabs++;
            }
            trace.append(line, 0, tabs).append(line(line.substring(tabs))).append(System.lineSeparator());
        });
        return trace.toString();
    }

    private static void append(StringBuilder line, int c) {
        switch (c) {
            case '\n' -> line.append("\\n");
            case '\r' -> line.append("\\r");
            case '\t' -> line.append("\\t");
            case '\\' -> line.append("\\\\");
            default -> {
                if (isHarmless(c)) {
                    line.appendCodePoint(c);
                } else {
                    line.append(String.format("\\u{%X}", c));
                }
            }
        }
    }

    private static boolean isHarmless(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    /** The text that bytes are, if they are one. */
    public static Optional<String> utf8(byte[] bytes) {
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (CharacterCodingException binary) {
            return Optional.empty();
        }
    }

    public static String base64(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }
}
