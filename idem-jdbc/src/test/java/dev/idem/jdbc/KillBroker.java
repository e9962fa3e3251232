package dev.idem.jdbc;

import dev.idem.test.fault.ForkedJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The broker of a campaign: an endless stream with duplicates; what is not acknowledged is delivered again. */
final class KillBroker {
    private static final Pattern ACKNOWLEDGEMENT = Pattern.compile("ack (\\d+)\\.");
    private static final int DUPLICATES_PERCENT = 35;
    private static final int RECENT = 40;

    private final Random random;
    private final Path directory;
    private final List<String> stream = new ArrayList<>();
    private final BitSet acknowledged = new BitSet();
    private int messages;
    private int files;

    KillBroker(Random random, Path directory) {
        this.random = random;
        this.directory = directory;
    }

    /** Adds deliveries to the stream; more than a third repeat a recent message. */
    void publish(int deliveries) {
        for (int i = 0; i < deliveries; i++) {
            boolean again = messages > 0 && random.nextInt(100) < DUPLICATES_PERCENT;
            int number = again ? messages - 1 - random.nextInt(Math.min(RECENT, messages)) : messages++;
            stream.add("order-" + number);
        }
    }

    /** Writes what is not acknowledged yet into a file for a consumer. */
    Path open() throws IOException {
        List<String> lines = new ArrayList<>();
        for (int i = acknowledged.nextClearBit(0); i < stream.size(); i = acknowledged.nextClearBit(i + 1)) {
            lines.add(i + " " + stream.get(i));
        }
        return Files.write(directory.resolve("deliveries-" + files++), lines);
    }

    /** Hears what a consumer had acknowledged when it died. */
    void hear(ForkedJvm consumer) {
        for (String line : consumer.lines()) {
            Matcher matcher = ACKNOWLEDGEMENT.matcher(line);
            if (matcher.matches()) {
                acknowledged.set(Integer.parseInt(matcher.group(1)));
            }
        }
    }

    static boolean isAcknowledgement(String line) {
        return ACKNOWLEDGEMENT.matcher(line).matches();
    }

    int unacknowledged() {
        return stream.size() - acknowledged.cardinality();
    }

    Set<String> acknowledgedMessages() {
        Set<String> ids = new HashSet<>();
        acknowledged.stream().forEach(position -> ids.add(stream.get(position)));
        return ids;
    }

    int deliveries() {
        return stream.size();
    }

    int messages() {
        return messages;
    }
}
