package dev.idem.torture;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a worker tells the broker of one delivery: a line of text, with a sign for each message.
 *
 * @param acknowledged which of them were settled with ACK; every other settlement is none
 */
record Answer(long tag, List<Boolean> acknowledged) {
    private static final String END = ".";

    String line() {
        StringBuilder line = new StringBuilder().append(tag).append(' ');
        acknowledged.forEach(ack -> line.append(ack ? '+' : '-'));
        return line.append(END).toString();
    }

    /** Empty for a line that a kill has cut off. */
    static Optional<Answer> parse(String line) {
        int space = line.indexOf(' ');
        if (space < 0 || !line.endsWith(END)) {
            return Optional.empty();
        }
        List<Boolean> acknowledged = new ArrayList<>();
        line.substring(space + 1, line.length() - 1).chars().forEach(sign -> acknowledged.add(sign == '+'));
        return Optional.of(new Answer(Long.parseLong(line.substring(0, space)), acknowledged));
    }
}
