package dev.idem;

import java.util.HashMap;
import java.util.Map;

/**
 * Keeps the messages of one call in order: behind a message that must come again, no other one of the same ordering key
 * may run, for it would be overtaken. Used by one thread.
 */
final class Order {
    private final Map<String, Integer> firstBlocked = new HashMap<>();

    void block(Message message, int position) {
        message.orderingKey().ifPresent(key -> firstBlocked.merge(key, position, Math::min));
    }

    boolean isBlocked(Message message, int position) {
        return message.orderingKey()
                .filter(key -> firstBlocked.getOrDefault(key, Integer.MAX_VALUE) < position)
                .isPresent();
    }
}
