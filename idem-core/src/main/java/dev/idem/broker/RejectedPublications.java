package dev.idem.broker;

import dev.idem.Message;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Remembers which messages failed without anybody saying whose fault it was. One that failed, and behind which the broker has
 * confirmed others, is to blame for that; while nothing is confirmed it may be the broker, also if it was to blame before.
 * Thread-safe.
 */
final class RejectedPublications {
    private static final int LARGEST = 1_000;

    /** By id, how many messages had been confirmed when it failed last. */
    private final Map<String, Long> failures = new LinkedHashMap<>();

    private long confirmed;

    synchronized void confirmed(int messages) {
        confirmed += messages;
    }

    /** Notes that it failed now; true if others were confirmed since it failed before. */
    synchronized boolean failedAgain(Message message) {
        boolean guilty = isGuilty(message);
        failures.put(id(message), confirmed);
        if (failures.size() > LARGEST) {
            failures.remove(failures.keySet().iterator().next());
        }
        return guilty;
    }

    /** True if others were confirmed since it failed. */
    synchronized boolean isGuilty(Message message) {
        return failures.getOrDefault(id(message), Long.MAX_VALUE) < confirmed;
    }

    private static String id(Message message) {
        return message.id().orElse("");
    }
}
