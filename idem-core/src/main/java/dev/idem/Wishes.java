package dev.idem;

import dev.idem.spi.MarkerStore;
import dev.idem.spi.Retention;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Tells the store once how long each consumer wants its history kept, before its first claim. Thread-safe. */
final class Wishes {
    private final MarkerStore store;
    private final Map<String, Retention> told = new ConcurrentHashMap<>();

    Wishes(MarkerStore store) {
        this.store = store;
    }

    void tell(Consumer consumer) {
        Retention wish = consumer.policy().retention();
        if (!wish.equals(told.get(consumer.name()))) {
            store.retain(consumer.name(), wish);
            told.put(consumer.name(), wish);
        }
    }
}
