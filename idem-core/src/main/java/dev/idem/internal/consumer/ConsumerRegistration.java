package dev.idem.internal.consumer;

import dev.idem.StoreException;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.Retention;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Tells the store once what each consumer's keys are like and how long it wants its history kept, before its first claim.
 * Thread-safe.
 */
public final class ConsumerRegistration {
    private final MarkerStore store;
    private final Map<String, Wish> told = new ConcurrentHashMap<>();

    public ConsumerRegistration(MarkerStore store) {
        this.store = store;
    }

    private record Wish(Retention retention, boolean timeOrdered) {}

    /**
     * Before the first claim.
     *
     * @throws StoreException when the store has no place for such keys
     * @throws UnsupportedOperationException when it keeps no sequences, and the consumer needs one
     */
    public void tell(ConsumerPlan consumer) {
        Wish before = told.get(consumer.name());
        Retention retention = consumer.policy().retention();
        boolean timeOrdered = consumer.key().isTimeOrdered();
        if (before == null || before.timeOrdered != timeOrdered || !before.retention.equals(retention)) {
            if (consumer.sequence().isPresent() && !(store instanceof MarkerStore.Sequenced)) {
                throw new UnsupportedOperationException(
                        store.describe() + " keeps no sequences, which " + consumer.name() + " needs");
            }
            store.admit(consumer.name(), timeOrdered);
            store.retain(consumer.name(), retention);
            told.put(consumer.name(), new Wish(retention, timeOrdered));
        }
    }
}
