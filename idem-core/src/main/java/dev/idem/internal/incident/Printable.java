package dev.idem.internal.incident;

/** Text of others made fit for a log: it cannot end the line, move the cursor or turn its direction. Stateless. */
final class Printable {
    private Printable() {}

    /** At most so many characters of it, with everything that cannot be seen written out. */
    static String line(String text, int longest) {
        StringBuilder line = new StringBuilder();
        int taken = 0;
        for (int i = 0; i < text.length(); taken++) {
            if (taken == longest) {
                return line.append('…').toString();
            }
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            if (isHidden(c)) {
                line.append("\\u{").append(Integer.toHexString(c)).append('}');
            } else {
                line.appendCodePoint(c);
            }
        }
        return line.toString();
    }

    private static boolean isHidden(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.UNASSIGNED -> true;
            default -> false;
        };
    }
}
