package dev.idem.internal.outbox;

import dev.idem.Inbox;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.queue.Outbox;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.QueueStore;
import dev.idem.spi.UnitOfWork;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what handlers publish into the queues of their destinations, with the statements that the handler's unit defers; so
 * it is in the unit's transaction, undone with it, and sent together with that of other messages. After the commit it wakes
 * the relays. A process that dies between the two leaves rows that a poll or a sweep finds. Thread-safe.
 */
public final class Outboxes {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private final MarkerStore store;
    private final @Nullable QueueStore queue;
    private final WorkerSignals signals;
    private final Set<String> registered = ConcurrentHashMap.newKeySet();

    public Outboxes(MarkerStore store, WorkerSignals signals) {
        this.store = store;
        this.queue = store instanceof MarkerStore.Queueing queueing ? queueing.queue() : null;
        this.signals = signals;
    }

    /** Before a transaction of the consumer begins: making a destination known needs a connection of its own. */
    public void ready(ConsumerPlan consumer) {
        for (Outbox outbox : consumer.outboxes()) {
            if (!registered.contains(outbox.consumer())) {
                queueFor(consumer.name());
                store.register(outbox.consumer());
                registered.add(outbox.consumer());
            }
        }
    }

    private QueueStore queueFor(String consumer) {
        if (queue == null) {
            throw new UnsupportedOperationException(
                    store.describe() + " keeps no queue, which the outboxes of " + consumer + " need");
        }
        return queue;
    }

    /** Hands over what a handler has published, before its unit is flushed. */
    public void defer(UnitOfWork unit, List<Publication> publications) {
        for (Publication one : publications) {
            String consumer = one.outbox().consumer();
            queueFor(consumer)
                    .publish(
                            unit,
                            new QueueStore.Intake(
                                    consumer,
                                    message -> one.row(),
                                    one.outbox().isOrdered(),
                                    message -> Optional.empty()),
                            one.message());
        }
    }

    /** After the commit, when its connection was given back. Nothing of this decides about a message. */
    public void committed(List<Publication> publications) {
        Map<Outbox, List<Publication>> byOutbox = new LinkedHashMap<>();
        publications.forEach(p ->
                byOutbox.computeIfAbsent(p.outbox(), o -> new ArrayList<>()).add(p));
        byOutbox.forEach(this::letGo);
    }

    private void letGo(Outbox outbox, List<Publication> published) {
        QueueStore store = queueFor(outbox.consumer());
        Set<String> orderingKeys = new LinkedHashSet<>();
        published.forEach(p -> p.message().orderingKey().ifPresent(orderingKeys::add));
        try {
            if (outbox.isOrdered() && !orderingKeys.isEmpty()) {
                store.release(outbox.consumer(), orderingKeys);
            }
        } catch (RuntimeException failure) {
            log.debug("{}: the look after publishing failed; a sweep will make it good", outbox.consumer(), failure);
        }
        boolean enough = signals.of(outbox.consumer()).ring(1); // a worker that finds much wakes the next one
        if (!enough && store instanceof QueueStore.Waking waking) {
            waking.wakeOthers(outbox.consumer());
        }
    }
}
