package dev.idem;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** What is and is not usable text. Nothing here normalises: ids that differ in one byte are different messages. */
final class Text {
    private Text() {}

    /** True when nothing in it can be seen: white space, controls and zero-width characters only. */
    static boolean isBlank(String text) {
        return text.codePoints().allMatch(Text::isInvisible);
    }

    private static boolean isInvisible(int codePoint) {
        return Character.isWhitespace(codePoint)
                || Character.isSpaceChar(codePoint)
                || switch (Character.getType(codePoint)) {
                    case Character.CONTROL, Character.FORMAT, Character.UNASSIGNED -> true;
                    default -> false;
                };
    }

    /** A lone surrogate has no UTF-8 form: encoders turn it into "?", and two different ids would become one. */
    static boolean hasLoneSurrogate(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (Character.isSurrogate(c)) {
                return true;
            }
        }
        return false;
    }

    /** Decodes bytes only if they are UTF-8; a lenient decoder would merge different malformed ids. */
    static Optional<String> strictUtf8(byte[] bytes) {
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (CharacterCodingException malformed) {
            return Optional.empty();
        }
    }

    /** For log lines and error messages: no control character survives, and the length is bounded. */
    static String printable(String text) {
        StringBuilder line = new StringBuilder();
        text.codePoints().limit(200).forEach(c -> appendVisible(line, c));
        return text.codePointCount(0, text.length()) > 200 ? line.append('…').toString() : line.toString();
    }

    static void appendVisible(StringBuilder to, int codePoint) {
        int type = Character.getType(codePoint);
        boolean hidden = type == Character.CONTROL
                || type == Character.FORMAT
                || type == Character.SURROGATE
                || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR;
        if (hidden) {
            to.append(String.format("\\u{%x}", codePoint));
        } else {
            to.appendCodePoint(codePoint);
        }
    }
}
