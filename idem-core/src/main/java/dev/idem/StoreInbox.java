package dev.idem;

import dev.idem.spi.MarkerStore;
import java.sql.Connection;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The door: finds the key and the handler of a message, and turns whatever happens into an outcome. */
final class StoreInbox implements Inbox {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private final MarkerStore store;
    private final Events events;
    private final Deadlines deadlines = new Deadlines();
    private final Nesting nesting = new Nesting();
    private final UnitRunner units;
    private final Observer observer = new Observer(Clock.systemUTC());
    private final Wishes wishes;

    StoreInbox(Builder from) {
        store = from.store;
        events = new Events(from.listeners);
        units = new UnitRunner(store, events, deadlines, nesting, from.steps, from.concurrency);
        wishes = new Wishes(store);
        log.info("Inbox: {}, guarantee {}", store.describe(), store.guarantee());
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> Outcome<T> process(
            Consumer consumer, Message message, Work<T, X> work) throws X {
        return settled(new Attempt<>(consumer, message, work, null));
    }

    @Override
    public <T, X extends Exception> Outcome<T> process(
            Consumer consumer, Message message, ResultCodec<T> codec, Work<T, X> work) throws X {
        return settled(new Attempt<>(consumer, message, work, codec));
    }

    @Override
    public Outcome<?> accept(Consumer consumer, Message message) {
        Optional<Consumer.Route<?, ?>> route = consumer.route(message);
        return route.isPresent() ? accept(consumer, message, route.get()) : unknownType(consumer, message);
    }

    private <E, T extends @Nullable Object> Outcome<T> accept(
            Consumer consumer, Message message, Consumer.Route<E, T> route) {
        Work<T, Exception> work = tx -> route.handler().handle(decoded(message, route), tx);
        Attempt<T, Exception> attempt = new Attempt<>(consumer, message, work, route.codec());
        try {
            return settled(attempt);
        } catch (Undecodable undecodable) {
            return undecodable.outcome();
        } catch (NestedProcessingException programmingError) {
            throw programmingError;
        } catch (Throwable failure) {
            return new Outcome.Failed<>(
                    Failures.kindOf(failure, consumer.policy(), store), Failures.unlessFatal(failure));
        }
    }

    private static <E> E decoded(Message message, Consumer.Route<E, ?> route) throws InterruptedException {
        try {
            return route.decoder().decode(message);
        } catch (InterruptedException | RetryableException notTheMessage) {
            throw notTheMessage;
        } catch (Exception | StackOverflowError unreadable) { // the latter by deep nesting
            throw new Undecodable(unreadable);
        }
    }

    private <T extends @Nullable Object> Outcome<T> unknownType(Consumer consumer, Message message) {
        String detail = "consumer " + consumer.name() + " has no handler for type "
                + Text.printable(message.type().orElse("none"))
                + message.version().map(v -> " version " + Text.printable(v)).orElse("");
        Outcome<T> outcome = switch (consumer.policy().unknownType()) {
            case REJECT -> new Outcome.Rejected<>(Rejection.UNKNOWN_TYPE, detail);
            case IGNORE -> new Outcome.Suppressed<>(detail);
        };
        events.settled(consumer, message, outcome, 0, Duration.ZERO, Duration.ZERO);
        return outcome;
    }

    /** Every delivery that has a handler ends here, so it is reported exactly once. */
    private <T extends @Nullable Object, X extends Exception> Outcome<T> settled(Attempt<T, X> attempt) throws X {
        try {
            wishes.tell(attempt.consumer());
            Outcome<T> outcome = attempt.policy().observeOnly() ? observed(attempt) : judged(attempt);
            attempt.report(events, outcome);
            return outcome;
        } catch (Undecodable undecodable) {
            attempt.report(events, undecodable.outcome());
            throw undecodable;
        } catch (Throwable failure) {
            attempt.report(
                    events,
                    new Outcome.Failed<T>(
                            Failures.kindOf(failure, attempt.consumer().policy(), store), failure));
            throw failure;
        }
    }

    private <T extends @Nullable Object, X extends Exception> Outcome<T> judged(Attempt<T, X> attempt) throws X {
        Keyed keyed = attempt.keyed(events);
        return keyed instanceof Keyed.Without none ? none.rejected() : units.run(attempt, ((Keyed.Key) keyed).key());
    }

    /** The same verdict, but whatever it would have stopped runs in a unit of its own. */
    private <T extends @Nullable Object, X extends Exception> Outcome<T> observed(Attempt<T, X> attempt) throws X {
        String consumer = attempt.consumer().name();
        observer.delivered(consumer);
        Outcome<T> verdict = judged(attempt);
        if (!observer.stopped(consumer, verdict)) {
            return verdict;
        }
        events.tell(l -> l.observed(consumer, verdict));
        return units.run(attempt, attempt.anyKey());
    }

    @Override
    public JoinedInbox within(Connection outer) {
        if (store instanceof MarkerStore.Joinable joinable) {
            return new OuterInbox(joinable, outer, nesting, events, observer, wishes);
        }
        throw new UnsupportedOperationException(store.describe() + " cannot join a transaction it did not open");
    }

    @Override
    public void register(Consumer consumer) {
        store.register(consumer.name());
        wishes.tell(consumer);
    }

    @Override
    public Map<String, Observation> observations() {
        return observer.observations();
    }

    @Override
    public MarkerStore store() {
        return store;
    }

    @Override
    public void close() {
        deadlines.close();
        events.close();
        store.close();
    }

    /** Carries a decoder's exception past the unit, where it must not look like the handler's. */
    private static final class Undecodable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final String type;

        Undecodable(Throwable cause) {
            super(cause);
            type = cause.getClass().getName();
        }

        <T extends @Nullable Object> Outcome<T> outcome() {
            // The cause's text may quote the payload, so only its type is told.
            return new Outcome.Rejected<>(Rejection.UNDECODABLE, "the payload could not be decoded: " + type);
        }
    }
}
