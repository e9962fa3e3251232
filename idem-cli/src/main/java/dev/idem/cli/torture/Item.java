package dev.idem.cli.torture;

import dev.idem.Message;
import java.nio.charset.StandardCharsets;
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
        /** Writes, and then fails, each time. */
        POISON,
        /** Fails so that no other try can help. */
        TERMINAL;

        boolean isParked() {
            return this == POISON || this == TERMINAL;
        }
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
        byte[] payload = line().getBytes(StandardCharsets.UTF_8);
        Message.Builder message = Message.builder()
                .id(
                        number % 2 == 0
                                ? "m" + number
                                : UUID.nameUUIDFromBytes(payload).toString())
                .payload(payload);
        return (mode.isOrdered() ? message.orderingKey("k" + key) : message).build();
    }

    static Item of(Message message) {
        return parse(message.payload());
    }

    /** From the payload of its message. */
    static Item parse(byte[] payload) {
        return parse(new String(payload, StandardCharsets.UTF_8));
    }
}
