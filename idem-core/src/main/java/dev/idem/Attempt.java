package dev.idem;

import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.StoredResult;
import dev.idem.spi.Unit;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One delivery on its way through the inbox: what it is, and what it has cost so far. Used by one thread. */
final class Attempt<T extends @Nullable Object, X extends Exception> {
    private final ConsumerPlan consumer;
    private final Message message;
    private final Work<T, X> work;
    private final @Nullable ResultCodec<T> codec;
    private final long started = System.nanoTime();
    private int runs;
    private @Nullable String step;
    private @Nullable Instant made;
    private long handlingNanos;
    private List<Publication> published = List.of();
    private boolean saysOutputs;
    private @Nullable Throwable ofHandler;

    Attempt(ConsumerPlan consumer, Message message, Work<T, X> work, @Nullable ResultCodec<T> codec) {
        this.consumer = consumer;
        this.message = message;
        this.work = work;
        this.codec = codec;
    }

    /** For a message that the consumer has a handler for. */
    static Attempt<?, Exception> of(ConsumerPlan consumer, Message message, Route route) {
        return route instanceof Route.Each<?, ?> each
                ? each(consumer, message, each)
                : together(consumer, message, (Route.Together<?>) route);
    }

    private static <E, T extends @Nullable Object> Attempt<T, Exception> each(
            ConsumerPlan consumer, Message message, Route.Each<E, T> route) {
        return new Attempt<>(
                consumer,
                message,
                tx -> route.handler().handle(Undecodable.decoded(route.decoder(), message), tx),
                route.codec());
    }

    @SuppressWarnings("NullAway") // the type argument is nullable, which the checker does not follow into a lambda
    private static <E> Attempt<@Nullable Void, Exception> together(
            ConsumerPlan consumer, Message message, Route.Together<E> route) {
        return new Attempt<>(consumer, message, tx -> TogetherAlone.run(route, tx), null);
    }

    /** For a message that nobody handles; only to be reported. */
    static Attempt<@Nullable Void, Exception> without(ConsumerPlan consumer, Message message) {
        return new Attempt<>(
                consumer,
                message,
                tx -> {
                    throw new IllegalStateException("nobody handles " + message);
                },
                null);
    }

    ConsumerPlan consumer() {
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
        if (consumer.isWatermark()) {
            return null; // a mark keeps none to compare with
        }
        try {
            return policy().fingerprint().digest(message).orElse(null);
        } catch (RetryableException notTheMessage) {
            throw notTheMessage;
        } catch (RuntimeException failure) {
            if (policy().observeOnly()) {
                return null; // lets everything through, also what it cannot compare
            }
            throw new TerminalException("The fingerprint of a message for " + consumer.name() + " failed", failure);
        }
    }

    /** The key to claim. Where the policy wants no key, one that nobody else has: all but the protection stays. */
    Keyed keyed(Events events, Sessions sessions) {
        Keyed.Turned turned = sessions.judge(consumer, message);
        if (turned != null) {
            return turned;
        }
        if (consumer.sequence().isPresent()
                && consumer.sequence().get().place(message) instanceof Placement.None none) {
            return none.rejected();
        }
        Keyed keyed = consumer.keyed(message);
        boolean unguarded = policy().missingKey() == Policy.MissingKey.PROCESS_UNGUARDED
                && !consumer.isWatermark()
                && !policy().observeOnly();
        if (keyed instanceof Keyed.Without why && unguarded) {
            events.tell(l -> l.unguarded(consumer.name(), why.reason()));
            return new Keyed.Key(anyKey(), null);
        }
        if (keyed instanceof Keyed.Key key && !consumer.isRebuiltBy(message)) { // a session's key cannot be forgotten
            made = key.made() != null ? key.made() : message.eventTime().orElse(null);
        }
        return keyed;
    }

    /** A key that nobody else has, so that the delivery runs whatever is known of its message. */
    MarkerKey anyKey() {
        made = null;
        return KeyEncoding.unique(consumer.name());
    }

    /**
     * When the message was made. The time in its id comes first, for it is the same in every redelivery and when the
     * producer publishes again; then the event time. Empty for a delivery that is not guarded.
     */
    Optional<Instant> madeAt() {
        return Optional.ofNullable(made);
    }

    /** It does one step of its message, so what it puts out has ids of that step. */
    Attempt<T, X> inStep(String name) {
        step = name;
        return this;
    }

    /** @param key under which it was claimed */
    T handle(Unit unit, MarkerKey key) throws X {
        runs++;
        unpublished();
        long start = System.nanoTime();
        Outputs outputs = new Outputs(consumer, message, key, step);
        try {
            T result = work.run(new RunningTransaction(message, consumer.name(), runs, unit, outputs));
            published = outputs.taken();
            saysOutputs = outputs.areSaid();
            return result;
        } finally {
            outputs.taken();
            handlingNanos += System.nanoTime() - start;
        }
    }

    /**
     * Notes whether the handler's code, and not the store of this unit, is where a failure comes from. Our own handlers are
     * believed: the one that stores messages, and those that relay them, which so say that their broker is away.
     */
    void failed(Throwable failure, Unit unit) {
        boolean said = failure instanceof StoreException && Outbox.isRelay(consumer.name());
        ofHandler = consumer.isReceiving() || said || unit.isOwn(failure) ? null : failure;
    }

    /** Whether it was noted so of this very failure. */
    boolean isOfHandler(Throwable failure) {
        return failure == ofHandler;
    }

    /** Nothing of a run before counts any more. */
    void unpublished() {
        published = List.of();
        saysOutputs = false;
    }

    /** What its last run wants published, unless its replay session leaves that out. */
    List<Publication> published() {
        return consumer.suppressesEffects(message) ? List.of() : published;
    }

    /** What a run together with others wants published for this one. */
    void published(Outputs outputs) {
        published = outputs.taken();
        saysOutputs = outputs.areSaid();
    }

    /** Whether its handler has published something, or said that there is nothing to do. */
    boolean saysOutputs() {
        return saysOutputs;
    }

    /** What its replay session leaves out is only counted. */
    void tellSuppressed(Events events) {
        if (consumer.suppressesEffects(message)) {
            published.forEach(left -> events.tell(
                    l -> l.effectSuppressed(consumer.name(), left.outbox().name())));
        }
    }

    /** Counts a run together with others, of which this one's share took so long. */
    void ranTogether(long nanos) {
        runs++;
        handlingNanos += nanos;
    }

    /** The outcome of work that is committed: the effect is there, or the message is stored. */
    Outcome<T> done(T result) {
        return consumer.isReceiving() ? new Outcome.Stored<>() : new Outcome.Processed<>(result);
    }

    /** How long its handler has run, all runs together. */
    Duration handling() {
        return Duration.ofNanos(handlingNanos);
    }

    /** The result as the store keeps it, if this consumer keeps results. */
    @Nullable
    StoredResult stored(T result, MarkerStore store) {
        return codec == null ? null : ResultSize.of(consumer, store).checked(Codecs.encoded(codec, result));
    }

    /** For a delivery whose caller is told the outcome: also what a person must hear of it. */
    void report(Events events, Outcome<?> outcome) {
        tell(events, outcome);
        events.incidents().settled(consumer, message, outcome);
    }

    /** Tells the listeners alone: for what is thrown at the caller, or recorded with a stored message. */
    void tell(Events events, Outcome<?> outcome) {
        tellSuppressed(events);
        if (events.isHeard()) {
            events.settled(consumer, message, outcome, runs, handling(), Duration.ofNanos(System.nanoTime() - started));
        }
    }
}
