package dev.idem.torture;

import dev.idem.Message;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/**
 * A message of the campaign.
 *
 * @param number unique in the campaign
 * @param key its ordering key; of an ordered mode only
 * @param seq counts the messages of its key from 1, in the order of publication
 */
record Item(int number, Mode mode, int key, int seq, Nature nature) {
    /** What its handler does. */
    enum Nature {
        /** Succeeds. */
        PLAIN,
        /** Fails in each process once, and then succeeds. */
        FLAKY,
        /** Writes, and then hangs beyond its timeout in each process once, whoever interrupts it; and then succeeds. */
        STUBBORN,
        /** Writes, and then throws an Error in each process once; and then succeeds. */
        ERROR,
        /** Succeeds, and leaves the thread interrupted. */
        INTERRUPTING,
        /** Succeeds; a few of its size fill the memory of a process. */
        LARGE,
        /** In steps: half done at first in each process, and every other process has another version of its handler. */
        CHANGED,
        /** Writes, and then fails, each time. */
        POISON,
        /** Fails so that no other try can help. */
        TERMINAL;

        boolean isParked() {
            return this == POISON || this == TERMINAL;
        }
    }

    /** The type of messages that are handled in steps by one version, and by a plain handler by the other. */
    static final String PLAIN_NOW = "plain-now";

    private static final int LARGE_BYTES = 2 << 20;
    /** What the ordering keys begin with whose messages are stored by several at once. */
    static final String RACED = "r";

    private static final byte END = '\n';

    /** Several receivers store messages of its key at once, so its place in the order is decided by its number in the queue. */
    boolean isRaced() {
        return (mode == Mode.LOCAL_ORDERED || mode == Mode.LEASED_ORDERED) && key % 4 == 2;
    }

    /** Whether its provider knows no keys, so that nobody may call again without a person's word. */
    boolean parksWhenUnknown() {
        return number % 2 == 0;
    }

    private boolean isPlainNow() {
        return mode.isInSteps() && nature == Nature.CHANGED && number % 4 < 2;
    }

    String line() {
        return number + ":" + mode + ":" + key + ":" + seq + ":" + nature;
    }

    static Item parse(String line) {
        String[] parts = line.split(":", -1);
        return new Item(
                Integer.parseInt(parts[0]),
                Mode.valueOf(parts[1]),
                Integer.parseInt(parts[2]),
                Integer.parseInt(parts[3]),
                Nature.valueOf(parts[4]));
    }

    /** Every other id is a UUID: those take another way into the key. */
    Message toMessage() {
        byte[] line = line().getBytes(StandardCharsets.UTF_8);
        Message.Builder message = Message.builder()
                .id(
                        number % 2 == 0
                                ? "m" + number
                                : UUID.nameUUIDFromBytes(line).toString())
                .payload(nature == Nature.LARGE ? padded(line) : line);
        if (isPlainNow()) {
            message.type(PLAIN_NOW);
        }
        return (mode.isOrdered() ? message.orderingKey((isRaced() ? RACED : "k") + key) : message).build();
    }

    private static byte[] padded(byte[] line) {
        byte[] payload = Arrays.copyOf(line, LARGE_BYTES);
        Arrays.fill(payload, line.length, payload.length, END);
        return payload;
    }

    static Item of(Message message) {
        return parse(message.payload());
    }

    /** From the payload of its message. */
    static Item parse(byte[] payload) {
        int length = 0;
        while (length < payload.length && payload[length] != END) {
            length++;
        }
        return parse(new String(payload, 0, length, StandardCharsets.UTF_8));
    }
}
