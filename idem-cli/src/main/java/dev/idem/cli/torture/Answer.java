package dev.idem.cli.torture;

import dev.idem.Settlement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What a worker tells the broker of one delivery: a line of text, with a letter for each message. */
record Answer(long tag, List<Settlement> settlements) {
    private static final String END = ".";

    String line() {
        StringBuilder line = new StringBuilder().append(tag).append(' ');
        settlements.forEach(settlement -> line.append(settlement.ordinal()));
        return line.append(END).toString();
    }

    /** Empty for a line that a kill has cut off. */
    static Optional<Answer> parse(String line) {
        int space = line.indexOf(' ');
        if (space < 0 || !line.endsWith(END)) {
            return Optional.empty();
        }
        List<Settlement> settlements = new ArrayList<>();
        line.substring(space + 1, line.length() - 1)
                .chars()
                .forEach(letter -> settlements.add(Settlement.values()[letter - '0']));
        return Optional.of(new Answer(Long.parseLong(line.substring(0, space)), settlements));
    }
}
