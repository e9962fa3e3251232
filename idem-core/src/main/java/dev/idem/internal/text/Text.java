package dev.idem.internal.text;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** What is and is not usable text. Nothing here normalises: ids that differ in one byte are different messages. */
public final class Text {
    /**
     * Controls, line breaks, invisible and direction-changing characters, as pairs of first and last. Not asked of
     * {@link Character}: its tables grow with the JDK, and a stored readable key must read the same on every JDK.
     */
    private static final int[] HIDDEN = {
        0x0000, 0x001F, 0x007F, 0x009F, 0x00AD, 0x00AD, 0x061C, 0x061C, 0x180E, 0x180E, 0x200B, 0x200F,
        0x2028, 0x202E, 0x2060, 0x206F, 0xD800, 0xDFFF, 0xFEFF, 0xFEFF, 0xFFF9, 0xFFFB, 0x13430, 0x1345F,
        0x1BCA0, 0x1BCAF, 0x1D173, 0x1D17A, 0xE0000, 0xE0FFF
    };

    private Text() {}

    /** True when nothing in it can be seen: white space, controls and zero-width characters only. */
    public static boolean isBlank(String text) {
        for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            if (!isInvisible(text.codePointAt(i))) {
                return false;
            }
        }
        return true;
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
    public static boolean hasLoneSurrogate(String text) {
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

    /** How many bytes it has in UTF-8. */
    public static int utf8Length(String text) {
        int bytes = text.length();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= 0x80) { // a pair of surrogates has four bytes, two for each
                bytes += c < 0x800 || Character.isSurrogate(c) ? 1 : 2;
            }
        }
        return bytes;
    }

    /** Decodes bytes only if they are UTF-8; a lenient decoder would merge different malformed ids. */
    public static Optional<String> strictUtf8(byte[] bytes) {
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
    public static String printable(String text) {
        StringBuilder line = new StringBuilder();
        text.codePoints().limit(200).forEach(c -> appendVisible(line, c));
        return text.codePointCount(0, text.length()) > 200 ? line.append('…').toString() : line.toString();
    }

    public static void appendVisible(StringBuilder to, int codePoint) {
        if (isHidden(codePoint)) {
            to.append(String.format("\\u{%x}", codePoint));
        } else {
            to.appendCodePoint(codePoint);
        }
    }

    private static boolean isHidden(int codePoint) {
        for (int i = 0; i < HIDDEN.length; i += 2) {
            if (codePoint >= HIDDEN[i] && codePoint <= HIDDEN[i + 1]) {
                return true;
            }
        }
        return false;
    }
}
