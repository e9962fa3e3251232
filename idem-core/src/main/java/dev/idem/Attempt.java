package dev.idem;

import dev.idem.spi.MarkerKey;
import dev.idem.spi.ResultCodec;
import dev.idem.spi.Unit;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One delivery on its way through the inbox: what it is, and what it has cost so far. Used by one thread. */
final class Attempt<T extends @Nullable Object, X extends Exception> {
    private final Consumer consumer;
    private final Message message;
    private final Work<T, X> work;
    private final @Nullable ResultCodec<T> codec;
    private final long started = System.nanoTime();
    private int runs;
    private long handlingNanos;

    Attempt(Consumer consumer, Message message, Work<T, X> work, @Nullable ResultCodec<T> codec) {
        this.consumer = consumer;
        this.message = message;
        this.work = work;
        this.codec = codec;
    }

    Consumer consumer() {
        return consumer;
    }

    Message message() {
        return message;
    }

    Policy policy() {
        return consumer.policy();
    }

    @Nullable
    ResultCodec<T> codec() {
        return codec;
    }

    int runs() {
        return runs;
    }

    byte @Nullable [] fingerprint() {
        return policy().fingerprint().digest(message).orElse(null);
    }

    Selection select() {
        Selection found = consumer.key().select(message);
        // Once more for parts that a selector of the user's own made without the checking factories.
        return found instanceof Selection.Parts parts ? parts.checked() : found;
    }

    /** A key nobody else has: the same transaction, confirmation and timeout, but no protection. */
    MarkerKey unguardedKey(Events events, Selection.Unusable why) {
        events.tell(l -> l.unguarded(consumer.name(), why.reason()));
        return new MarkerKey(consumer.name(), UUID.randomUUID(), null);
    }

    T handle(Unit unit) throws X {
        runs++;
        long start = System.nanoTime();
        try {
            return work.run(new RunningTransaction(message, consumer.name(), runs, unit));
        } finally {
            handlingNanos += System.nanoTime() - start;
        }
    }

    void report(Events events, Outcome<?> outcome) {
        InboxListener.Delivery delivery = new InboxListener.Delivery(
                consumer.name(),
                consumer.typeLabel(message),
                outcome,
                runs,
                Duration.ofNanos(handlingNanos),
                Duration.ofNanos(System.nanoTime() - started),
                message.eventTime());
        events.tell(listener -> listener.settled(delivery));
    }
}
