package dev.idem;

import dev.idem.spi.MarkerKey;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A named scope of effects: its name is part of every key, so two consumers of one message both run. Immutable and
 * thread-safe.
 *
 * <p>The name is durable. A consumer that is renamed starts with an empty memory, so rename it in the store as well:
 * {@code idem consumer rename}.
 */
public final class Consumer {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}");

    private final String name;
    private final KeySelector key;
    private final Policy policy;
    private final Map<Kind, Route> routes;
    private final @Nullable Route fallback;
    private final boolean watermark;
    private final @Nullable QueuePolicy queue;
    private final Set<Outbox> outboxes;
    private final boolean parking;
    private final @Nullable Sequence sequence;
    private final @Nullable Route receiver;
    private final PositionKeys positions;

    private Consumer(Builder from) {
        name = from.name;
        positions = new PositionKeys(name);
        key = from.key;
        policy = from.policy;
        routes = Map.copyOf(from.routes);
        fallback = from.fallback;
        watermark = from.watermark;
        queue = from.queue;
        outboxes = Set.copyOf(from.outboxes);
        parking = from.parking;
        sequence = from.sequence == null || !policy.rebuilds() ? from.sequence : from.sequence.apartInSessions();
        receiver = null;
    }

    private Consumer(Consumer from, Policy policy, @Nullable Route receiver) {
        name = from.name;
        positions = from.positions;
        key = from.key;
        this.policy = policy;
        routes = from.routes;
        fallback = from.fallback;
        watermark = from.watermark;
        queue = from.queue;
        outboxes = from.outboxes;
        parking = from.parking;
        sequence = from.sequence;
        this.receiver = receiver;
    }

    /** The smallest consumer: a name, the message id as key, and the work given in each call. */
    public static Consumer of(String name) {
        return named(name).build();
    }

    public static Builder named(String name) {
        return new Builder(name);
    }

    public String name() {
        return name;
    }

    public KeySelector key() {
        return key;
    }

    public Policy policy() {
        return policy;
    }

    /** Whether it keeps one mark for each partition of its source instead of one marker for each message. */
    public boolean isWatermark() {
        return watermark;
    }

    /** How its messages are kept, where it keeps any: all of them, or those that it {@linkplain #isParking parks}. */
    public Optional<QueuePolicy> queue() {
        return Optional.ofNullable(queue);
    }

    /** Where its handlers publish to. */
    public Set<Outbox> outboxes() {
        return outboxes;
    }

    /** Whether its messages are acknowledged on receipt, and not only when their effect is there. */
    public boolean isQueued() {
        return queue != null && !parking;
    }

    /** Whether it keeps in the inbox what its handlers cannot do, instead of in a place for dead letters. */
    public boolean isParking() {
        return parking;
    }

    /** The guard that applies the versions of each stream one after the other, if it has one. */
    public Optional<Sequence> sequence() {
        return Optional.ofNullable(sequence);
    }

    /** Whether its messages are judged by their versions here; at the door of a queue they are only stored. */
    boolean isSequenced() {
        return sequence != null && !isReceiving();
    }

    /** The same consumer at its door: whatever it has a handler for is given to this one. */
    Consumer receivedBy(BatchHandler<Message> handler) {
        return new Consumer(this, policy, new Route.Together<>(PayloadDecoder.message(), handler));
    }

    /** Whether some of its messages are handled in steps. */
    boolean hasSteps() {
        return fallback instanceof Route.Stepwise
                || routes.values().stream().anyMatch(Route.Stepwise.class::isInstance);
    }

    /** The same consumer for one step, with a policy that fits it. */
    Consumer with(Policy other) {
        return new Consumer(this, other, receiver);
    }

    /** Whether this is the consumer at its door, where a message that is done is only stored. */
    boolean isReceiving() {
        return receiver != null;
    }

    /** Under which key a store keeps this message for this consumer; empty if it has none that can be used. */
    public Optional<MarkerKey> keyOf(Message message) {
        return keyed(message) instanceof Keyed.Key found ? Optional.of(found.key()) : Optional.empty();
    }

    /**
     * Whether effects outside the database, and publications, must be left out for this message: it belongs to a replay
     * session, and the policy is {@link Policy.Replay#SUPPRESS_EFFECTS}.
     */
    public boolean suppressesEffects(Message message) {
        return message.replaySession().isPresent() && policy.replay() == Policy.Replay.SUPPRESS_EFFECTS;
    }

    /** Whether it is done once for its session, whatever else is known of it. */
    boolean isRebuiltBy(Message message) {
        return message.replaySession().isPresent() && policy.rebuilds();
    }

    /**
     * The key whatever session brings the message, for what must be the same then: ids of what it puts out, and keys of
     * effects.
     *
     * @param claimed under which it runs
     */
    MarkerKey keyBeyondSessions(Message message, MarkerKey claimed) {
        return isRebuiltBy(message) ? keyOf(message.inSession(null)).orElse(claimed) : claimed;
    }

    /** Where a mark is kept for it: a session that rebuilds has marks of its own. */
    Optional<Position> placeOf(Message message) {
        return isRebuiltBy(message)
                ? message.position()
                        .map(place -> ReplaySession.scoped(
                                place, message.replaySession().orElseThrow()))
                : message.position();
    }

    Keyed keyed(Message message) {
        Position position = watermark ? placeOf(message).orElse(null) : null;
        Keyed byPosition = position == null ? null : positions.of(position);
        return byPosition != null ? byPosition : inSession(message, beyondSessions(message));
    }

    private Keyed inSession(Message message, Keyed ordinary) {
        if (!(ordinary instanceof Keyed.Key key) || !isRebuiltBy(message)) {
            return ordinary;
        }
        String session = message.replaySession().orElseThrow();
        return ReplaySession.isName(session)
                ? new Keyed.Key(KeyEncoding.ofSession(key.key(), session), key.made())
                : new Keyed.Without(Rejection.KEY_MALFORMED, "the name of its replay session cannot be one");
    }

    /** What it was marked as counts more than what it says of itself now. */
    private Keyed beyondSessions(Message message) {
        Keyed own = selected(message);
        MarkerKey marked = message.markedAs().orElse(null);
        if (marked == null || !marked.consumer().equals(name)) {
            return own;
        }
        return own instanceof Keyed.Key key && key.key().equals(marked)
                ? own
                : new Keyed.Key(marked, KeyEncoding.madeAt(marked));
    }

    private Keyed selected(Message message) {
        Selection selection = select(message);
        // Checked once more, for parts that a selector of the user's own made without the checking factories.
        Selection checked = selection instanceof Selection.Parts parts ? parts.checked() : selection;
        return checked instanceof Selection.Unusable unusable
                ? new Keyed.Without(unusable.reason(), unusable.detail())
                : KeyEncoding.encode(name, (Selection.Parts) checked);
    }

    /** A rule that fails for a message would fail again, as for decoders, so the message is without a key. */
    private Selection select(Message message) {
        try {
            return key.select(message);
        } catch (RetryableException notTheMessage) {
            throw notTheMessage;
        } catch (RuntimeException failure) { // its text may quote the payload, so only its type is told
            return new Selection.Unusable(
                    Rejection.KEY_MALFORMED,
                    "the key selector failed: " + failure.getClass().getName());
        }
    }

    /** The handler for exactly this type and version, else for any version of the type, else for anything. */
    Optional<Route> route(Message message) {
        Route found = null;
        if (message.type().isPresent()) {
            String type = message.type().get();
            found = message.version().map(v -> routes.get(new Kind(type, v))).orElse(null);
            found = found != null ? found : routes.get(new Kind(type, null));
        }
        Route own = found != null ? found : fallback;
        return Optional.ofNullable(own == null || receiver == null ? own : receiver);
    }

    /** What becomes of a message nobody handles. */
    <T extends @Nullable Object> Outcome<T> unknownType(Message message) {
        String detail = "consumer " + name + " has no handler for type "
                + Text.printable(message.type().orElse("none"))
                + message.version().map(v -> " version " + Text.printable(v)).orElse("");
        return switch (policy.unknownType()) {
            case REJECT -> new Outcome.Rejected<>(Rejection.UNKNOWN_TYPE, detail);
            case IGNORE -> new Outcome.Suppressed<>(detail);
        };
    }

    /** The message's type if a handler is registered for it, else "other": keeps the number of metrics bounded. */
    String typeLabel(Message message) {
        return message.type()
                .filter(type -> routes.keySet().stream().anyMatch(kind -> kind.type.equals(type)))
                .orElse("other");
    }

    @Override
    public String toString() {
        return "Consumer[" + name + "]";
    }

    private record Kind(String type, @Nullable String version) {}

    /** How the messages of a kind are decoded and handled: one by one, together, or in steps. */
    sealed interface Route {
        record Each<E, T extends @Nullable Object>(
                PayloadDecoder<E> decoder,
                Handler<E, T> handler,
                @Nullable ResultCodec<T> codec) implements Route {
            public Each {
                Objects.requireNonNull(decoder, "decoder");
                Objects.requireNonNull(handler, "handler");
            }
        }

        record Together<E>(PayloadDecoder<E> decoder, BatchHandler<E> handler) implements Route {
            public Together {
                Objects.requireNonNull(decoder, "decoder");
                Objects.requireNonNull(handler, "handler");
            }
        }

        record Stepwise<E>(PayloadDecoder<E> decoder, StepHandler<E> handler) implements Route {
            public Stepwise {
                Objects.requireNonNull(decoder, "decoder");
                Objects.requireNonNull(handler, "handler");
            }
        }
    }

    /** Collects what a consumer has. Not thread-safe. */
    public static final class Builder {
        private final String name;
        private final Map<Kind, Route> routes = new HashMap<>();
        private KeySelector key = KeySelector.messageId();
        private Policy policy = Policy.defaults();
        private @Nullable Route fallback;
        private boolean watermark;
        private boolean keyChosen;
        private @Nullable QueuePolicy queue;
        private final Set<Outbox> outboxes = new LinkedHashSet<>();
        private boolean parking;
        private @Nullable Sequence sequence;

        private Builder(String name) {
            if (!NAME.matcher(name).matches()) {
                throw new IllegalArgumentException("Consumer name '" + Text.printable(name)
                        + "' must be 1 to 100 letters, digits or . _ : / - and start with a letter or digit");
            }
            this.name = name;
        }

        public Builder key(KeySelector selector) {
            key = Objects.requireNonNull(selector, "selector");
            keyChosen = true;
            return this;
        }

        /**
         * Remembers positions instead of messages: one mark for each partition of the source, moved in the same transaction as
         * the effects. The fastest way, for sources that keep their messages in order at stable positions, such as Kafka.
         * What is delivered again is recognised; what a producer sends again is a new message at a new position, and is
         * processed again. Messages must be delivered in the order of their positions, each partition by one thread at a
         * time.
         */
        public Builder watermark() {
            watermark = true;
            return this;
        }

        /**
         * Acknowledges on receipt: messages are stored, and the workers that {@link Inbox#start} starts handle them, retry
         * and park. Without this, a message is acknowledged when its effect is there.
         */
        public Builder queued(QueuePolicy value) {
            if (queue != null) {
                throw new IllegalArgumentException(
                        "Consumer " + name + " is given two queues: choose one of queued and parking");
            }
            queue = Objects.requireNonNull(value, "value");
            return this;
        }

        /** Its handlers may {@linkplain Transaction#publish publish} to these. */
        public Builder publishesTo(Outbox... destinations) {
            for (Outbox added : destinations) {
                if (outboxes.stream().anyMatch(o -> o.name().equals(added.name()) && !o.equals(added))) {
                    throw new IllegalArgumentException(
                            "Consumer " + name + " has two outboxes named " + added.name() + " that differ");
                }
                outboxes.add(added);
            }
            return this;
        }

        /**
         * Handles messages before they are acknowledged, but keeps those in the inbox that fail for good or too often: as
         * parked ones, until a person retries or skips them. Without this a listener publishes them as dead letters, as it
         * still does with what cannot be stored under a key of its own, a conflict, say. What a person retries is handled by
         * the workers that {@link Inbox#start} starts. Those behind a parked message, of the same ordering key, go on.
         */
        public Builder parking(QueuePolicy value) {
            parking = true;
            return queued(value);
        }

        /**
         * Applies the versions of each stream exactly once and one after the other. It replaces {@link
         * QueuePolicy#withOrderByKey}, which orders by arrival.
         */
        public Builder sequence(Sequence value) {
            sequence = Objects.requireNonNull(value, "value");
            return this;
        }

        public Builder policy(Policy value) {
            policy = Objects.requireNonNull(value, "value");
            return this;
        }

        /** Handles every version of a type that has no handler of its own. */
        public <E, T extends @Nullable Object> Builder on(
                String type, PayloadDecoder<E> decoder, Handler<E, T> handler) {
            return add(new Kind(type, null), new Route.Each<>(decoder, handler, null));
        }

        public <E, T extends @Nullable Object> Builder on(
                String type, String version, PayloadDecoder<E> decoder, Handler<E, T> handler) {
            return add(new Kind(type, version), new Route.Each<>(decoder, handler, null));
        }

        /** Handles every version of a type, and keeps the result, so that a duplicate is answered with it. */
        public <E, T> Builder on(String type, PayloadDecoder<E> decoder, Handler<E, T> handler, ResultCodec<T> codec) {
            return add(
                    new Kind(type, null), new Route.Each<>(decoder, handler, Objects.requireNonNull(codec, "codec")));
        }

        /** Handles one version of a type, and keeps the result. */
        public <E, T> Builder on(
                String type, String version, PayloadDecoder<E> decoder, Handler<E, T> handler, ResultCodec<T> codec) {
            return add(
                    new Kind(type, version),
                    new Route.Each<>(decoder, handler, Objects.requireNonNull(codec, "codec")));
        }

        /** Handles everything that has no handler of its own, also messages without a type. */
        public <T extends @Nullable Object> Builder otherwise(Handler<Message, T> handler) {
            return fallback(new Route.Each<>(PayloadDecoder.message(), handler, null));
        }

        /** Handles every version of a type that has no handler of its own, many messages in one call. */
        public <E> Builder onAll(String type, PayloadDecoder<E> decoder, BatchHandler<E> handler) {
            return add(new Kind(type, null), new Route.Together<>(decoder, handler));
        }

        /** Handles one version of a type, many messages in one call. */
        public <E> Builder onAll(String type, String version, PayloadDecoder<E> decoder, BatchHandler<E> handler) {
            return add(new Kind(type, version), new Route.Together<>(decoder, handler));
        }

        /** Handles everything that has no handler of its own, many messages in one call. */
        public Builder otherwiseAll(BatchHandler<Message> handler) {
            return fallback(new Route.Together<>(PayloadDecoder.message(), handler));
        }

        /** Handles every version of a type in steps. Only for consumers that are queued and leased. */
        public <E> Builder onSteps(String type, PayloadDecoder<E> decoder, StepHandler<E> handler) {
            return add(new Kind(type, null), new Route.Stepwise<>(decoder, handler));
        }

        /** Handles one version of a type in steps. */
        public <E> Builder onSteps(String type, String version, PayloadDecoder<E> decoder, StepHandler<E> handler) {
            return add(new Kind(type, version), new Route.Stepwise<>(decoder, handler));
        }

        /** Handles everything that has no handler of its own in steps. */
        public Builder otherwiseSteps(StepHandler<Message> handler) {
            return fallback(new Route.Stepwise<>(PayloadDecoder.message(), handler));
        }

        private Builder fallback(Route route) {
            if (fallback != null) {
                throw new IllegalArgumentException("Consumer " + name + " has two handlers for other messages");
            }
            fallback = route;
            return this;
        }

        private Builder add(Kind kind, Route route) {
            Objects.requireNonNull(kind.type, "type");
            if (routes.putIfAbsent(kind, route) != null) {
                throw new IllegalArgumentException("Consumer " + name + " has two handlers for type " + kind.type
                        + (kind.version == null ? "" : " version " + kind.version));
            }
            return this;
        }

        public Consumer build() {
            if (watermark) {
                checkWatermark();
            }
            if (queue != null) {
                checkQueue();
            }
            if (sequence != null) {
                checkSequence();
            }
            Consumer consumer = new Consumer(this);
            if (consumer.hasSteps() && sequence != null) {
                throw new IllegalArgumentException(
                        "Consumer " + name + " has a handler with steps and a sequence, but a"
                                + " version is applied in one transaction: publish to a consumer of its own from one of them");
            }
            if (consumer.hasSteps() && (parking || queue == null || !queue.isLeased())) {
                throw new IllegalArgumentException("Consumer " + name + " has a handler with steps, each of which needs"
                        + " a transaction of its own: say queued(QueuePolicy.leased(…))");
            }
            return consumer;
        }

        private void checkQueue() {
            if (parking && queue != null && queue.isOrdered()) {
                throw new IllegalArgumentException(
                        "Consumer " + name + " parks what fails, so that those behind it go on,"
                                + " and cannot keep its queue in order as well: queue all its messages, or leave the order out");
            }
            if (watermark || policy.observeOnly()) {
                throw new IllegalArgumentException("Consumer " + name + " is queued and "
                        + (watermark ? "has a watermark" : "observes only")
                        + ", but a stored message needs a marker that decides. Leave one of them out");
            }
        }

        private void checkSequence() {
            String other = watermark
                    ? "a watermark, which takes messages by their positions"
                    : policy.observeOnly()
                            ? "only observes, which lets everything through"
                            : policy.unknownType() == Policy.UnknownType.IGNORE
                                    ? "ignores unknown types, whose versions would be missing"
                                    : parking
                                            ? "parks what fails, behind which its stream could not go on"
                                            : queue != null && queue.isOrdered()
                                                    ? "orders its queue by key, which the sequence does better"
                                                    : null;
            if (other != null) {
                throw new IllegalArgumentException(
                        "Consumer " + name + " has a sequence and " + other + ". Leave one of them out");
            }
        }

        private void checkWatermark() {
            if (policy.observeOnly()) {
                throw new IllegalArgumentException(
                        "Consumer " + name + " has a watermark and observes only, but without"
                                + " markers there is nothing to observe: redelivered positions alone are recognised");
            }
            if (keyChosen) {
                throw new IllegalArgumentException(
                        "Consumer " + name + " has both a key and a watermark: with a watermark"
                                + " the position alone tells what is done. Leave one of them out");
            }
            boolean keepsResults = routes.values().stream()
                    .anyMatch(route -> route instanceof Route.Each<?, ?> each && each.codec() != null);
            if (keepsResults) {
                throw new IllegalArgumentException(
                        "Consumer " + name + " has a watermark and a handler whose result is kept,"
                                + " but without markers there is nothing to keep it with");
            }
            key = KeySelector.position();
        }
    }
}
