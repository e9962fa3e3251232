package dev.idem;

import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.StepHook;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What all units of one inbox share, whether they run one by one or in batches. Thread-safe. */
record Engine(
        MarkerStore store,
        Events events,
        Deadlines deadlines,
        Nesting nesting,
        StepHook steps,
        KeyGate gate,
        Permits permits,
        UnusedTransactions unused,
        Isolation isolation,
        Outboxes outboxes,
        Sessions sessions) {

    static Engine of(Inbox.Builder from, Events events, Bells bells) {
        return new Engine(
                from.store,
                events,
                new Deadlines(),
                new Nesting(),
                from.steps,
                new KeyGate(),
                new Permits(from.concurrency),
                new UnusedTransactions(events),
                new Isolation(),
                new Outboxes(from.store, bells),
                new Sessions(from.store));
    }

    /**
     * The same for a worker on stored messages, who has them for itself: a duplicate at the door must not wait for its
     * message's handler. It has a permit already, because it must not wait for one while it holds a connection.
     */
    Engine forWorker(Isolation shared) {
        return new Engine(
                store,
                events,
                deadlines,
                nesting,
                steps,
                new KeyGate(),
                new Permits(Integer.MAX_VALUE),
                unused,
                shared,
                outboxes,
                sessions);
    }

    HandlerTimeoutException tooLate(MarkerKey key, Duration limit, @Nullable Throwable cause) {
        events.tell(l -> l.timedOut(key.consumer(), limit));
        return new HandlerTimeoutException(
                "Handler of " + key + " ran longer than " + limit
                        + ": rolled back. Raise the consumer's handlerTimeout or make the handler shorter",
                cause);
    }
}
