package dev.idem.internal.unit;

import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.ResultCodec;
import dev.idem.RetryableException;
import dev.idem.Route;
import dev.idem.StoreException;
import dev.idem.TerminalException;
import dev.idem.Work;
import dev.idem.internal.consumer.Codecs;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.consumer.ReplaySessions;
import dev.idem.internal.consumer.Undecodable;
import dev.idem.internal.event.Events;
import dev.idem.internal.key.KeyEncoding;
import dev.idem.internal.key.Keyed;
import dev.idem.internal.key.Placement;
import dev.idem.internal.outbox.Outputs;
import dev.idem.internal.outbox.Publication;
import dev.idem.queue.Outbox;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.StoredResult;
import dev.idem.spi.UnitOfWork;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One delivery on its way through the inbox: what it is, and what it has cost so far. Used by one thread. */
public final class Delivery<T extends @Nullable Object, X extends Exception> {
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

    public Delivery(ConsumerPlan consumer, Message message, Work<T, X> work, @Nullable ResultCodec<T> codec) {
        this.consumer = consumer;
        this.message = message;
        this.work = work;
        this.codec = codec;
    }

    /** For a message that the consumer has a handler for. */
    public static Delivery<?, Exception> of(ConsumerPlan consumer, Message message, Route route) {
        return route instanceof Route.Each<?, ?> each
                ? each(consumer, message, each)
                : together(consumer, message, (Route.Together<?>) route);
    }

    private static <E, T extends @Nullable Object> Delivery<T, Exception> each(
            ConsumerPlan consumer, Message message, Route.Each<E, T> route) {
        return new Delivery<>(
                consumer,
                message,
                tx -> route.handler().handle(Undecodable.decoded(route.decoder(), message), tx),
                route.codec());
    }

    @SuppressWarnings("NullAway") // the type argument is nullable, which the checker does not follow into a lambda
    private static <E> Delivery<@Nullable Void, Exception> together(
            ConsumerPlan consumer, Message message, Route.Together<E> route) {
        return new Delivery<>(consumer, message, tx -> TogetherAlone.run(route, tx), null);
    }

    /** For a message that nobody handles; only to be reported. */
    public static Delivery<@Nullable Void, Exception> without(ConsumerPlan consumer, Message message) {
        return new Delivery<>(
                consumer,
                message,
                tx -> {
                    throw new IllegalStateException("nobody handles " + message);
                },
                null);
    }

    public ConsumerPlan consumer() {
        return consumer;
    }

    public Message message() {
        return message;
    }

    public Policy policy() {
        return consumer.policy();
    }

    @Nullable
    public ResultCodec<T> codec() {
        return codec;
    }

    public int runs() {
        return runs;
    }

    public byte @Nullable [] fingerprint() {
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
    public Keyed keyed(Events events, ReplaySessions sessions) {
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
    public MarkerKey anyKey() {
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
    public Delivery<T, X> inStep(String name) {
        step = name;
        return this;
    }

    /** @param key under which it was claimed */
    public T handle(UnitOfWork unit, MarkerKey key) throws X {
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
    public void failed(Throwable failure, UnitOfWork unit) {
        boolean said = failure instanceof StoreException && Outbox.isRelay(consumer.name());
        ofHandler = consumer.isReceiving() || said || unit.isOwn(failure) ? null : failure;
    }

    /** Whether it was noted so of this very failure. */
    public boolean isOfHandler(Throwable failure) {
        return failure == ofHandler;
    }

    /** Nothing of a run before counts any more. */
    public void unpublished() {
        published = List.of();
        saysOutputs = false;
    }

    /** What its last run wants published, unless its replay session leaves that out. */
    public List<Publication> published() {
        return consumer.suppressesEffects(message) ? List.of() : published;
    }

    /** What a run together with others wants published for this one. */
    public void published(Outputs outputs) {
        published = outputs.taken();
        saysOutputs = outputs.areSaid();
    }

    /** Whether its handler has published something, or said that there is nothing to do. */
    public boolean saysOutputs() {
        return saysOutputs;
    }

    /** What its replay session leaves out is only counted. */
    public void tellSuppressed(Events events) {
        if (consumer.suppressesEffects(message)) {
            published.forEach(left -> events.tell(
                    l -> l.effectSuppressed(consumer.name(), left.outbox().name())));
        }
    }

    /** Counts a run together with others, of which this one's share took so long. */
    public void ranTogether(long nanos) {
        runs++;
        handlingNanos += nanos;
    }

    /** The outcome of work that is committed: the effect is there, or the message is stored. */
    public Outcome<T> done(T result) {
        return consumer.isReceiving() ? new Outcome.Stored<>() : new Outcome.Processed<>(result);
    }

    /** How long its handler has run, all runs together. */
    public Duration handling() {
        return Duration.ofNanos(handlingNanos);
    }

    /** The result as the store keeps it, if this consumer keeps results. */
    @Nullable
    public StoredResult stored(T result, MarkerStore store) {
        return codec == null ? null : ResultSize.of(consumer, store).checked(Codecs.encoded(codec, result));
    }

    /** For a delivery whose caller is told the outcome: also what a person must hear of it. */
    public void report(Events events, Outcome<?> outcome) {
        tell(events, outcome);
        events.incidents().settled(consumer, message, outcome);
    }

    /** Tells the listeners alone: for what is thrown at the caller, or recorded with a stored message. */
    public void tell(Events events, Outcome<?> outcome) {
        tellSuppressed(events);
        if (events.isHeard()) {
            events.settled(consumer, message, outcome, runs, handling(), Duration.ofNanos(System.nanoTime() - started));
        }
    }
}
