package dev.idem.broker.spi;

/** Text of others for people to read: on one line, without control characters, and not too long. Stateless. */
final class PrintableText {
    private static final int LONGEST = 300;

    private PrintableText() {}

    static String of(String text) {
        String line = text.replaceAll("[\\p{Cntrl}\\p{Cf}\\u2028\\u2029]+", " ").strip();
        return line.length() <= LONGEST ? line : line.substring(0, LONGEST) + "…";
    }
}
