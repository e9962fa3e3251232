package dev.idem;

import dev.idem.batch.BatchHandler;
import dev.idem.internal.text.Text;
import dev.idem.queue.Outbox;
import dev.idem.queue.QueuePolicy;
import dev.idem.sequence.Sequence;
import dev.idem.steps.EffectPolicy;
import dev.idem.steps.StepHandler;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A named scope of effects: its name is part of every key, so two consumers of one message both run. Immutable and
 * thread-safe.
 *
 * <p>The name is durable. A consumer that is renamed starts with an empty memory, so rename it in the store as well:
 * {@code idem consumer rename}, and keep what it gives to others recognisable: {@link Builder#scope}.
 */
public final class Consumer {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}");

    private final String name;
    private final String scope;
    private final KeySelector key;
    private final Policy policy;
    private final Routes routes;
    private final boolean watermark;
    private final @Nullable QueuePolicy queue;
    private final Set<Outbox> outboxes;
    private final boolean parking;
    private final @Nullable Sequence sequence;

    private Consumer(Builder from) {
        name = from.name;
        scope = from.scope;
        policy = from.policy;
        key = from.watermark ? KeySelector.position() : from.key;
        routes = from.routes.build();
        watermark = from.watermark;
        queue = from.queue;
        outboxes = Set.copyOf(from.outboxes);
        parking = from.parking;
        sequence = from.sequence;
    }

    /** The smallest consumer: a name, the message's id and source as key, and the work given in each call. */
    public static Consumer of(String name) {
        return named(name).build();
    }

    public static Builder named(String name) {
        return new Builder(name);
    }

    public String name() {
        return name;
    }

    /** What ids of publications and keys of effects are made from, beside the message; see {@link Builder#scope}. */
    public String scope() {
        return scope;
    }

    public KeySelector key() {
        return key;
    }

    public Policy policy() {
        return policy;
    }

    /** What is done to the text of an exception before anybody sees it: what its policy says, and then its queue's. */
    public UnaryOperator<String> redaction() {
        UnaryOperator<String> first = policy.redaction();
        if (queue == null) {
            return first;
        }
        UnaryOperator<String> second = queue.redaction();
        return text -> second.apply(first.apply(text));
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

    /** Which of its handlers takes which message. */
    public Routes routes() {
        return routes;
    }

    /**
     * Whether effects outside the database, and publications, must be left out for this message: it belongs to a replay
     * session, and the policy is {@link Policy.Replay#SUPPRESS_EFFECTS}.
     */
    public boolean suppressesEffects(Message message) {
        return message.replaySession().isPresent() && policy.replay() == Policy.Replay.SUPPRESS_EFFECTS;
    }

    @Override
    public String toString() {
        return "Consumer[" + name + "]";
    }

    /** Collects what a consumer has. Not thread-safe. */
    @SuppressWarnings({"FunctionalInterfaceClash", "overloads"
    }) // an Action is a Handler, so it is chosen: HandlerShapesTest
    public static final class Builder {
        private final String name;
        private String scope;
        private final Routes.Builder routes;
        private KeySelector key = KeySelector.identity();
        private Policy policy = Policy.defaults();
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
            this.scope = name;
            this.routes = new Routes.Builder(name);
        }

        /**
         * What stands for the name in ids of publications, and in keys of effects that have no {@linkplain
         * EffectPolicy#withScope scope} of their own. Default: the name. When a consumer is renamed, say its first name here:
         * then what is replayed is published under the ids that receivers know, and providers are given the keys they know.
         */
        public Builder scope(String value) {
            scope = Objects.requireNonNull(value, "value");
            return this;
        }

        /** What makes two deliveries the same message; default {@link KeySelector#identity}: the id, and the source if there is one. */
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

        /** Handles every version of a type that has no handler of its own. What a method that is called returns is dropped. */
        public <E> Builder on(String type, PayloadDecoder<E> decoder, Handler.Action<E> handler) {
            return add(type, null, new Route.Each<>(decoder, handler, null));
        }

        /** Handles one version of a type. What a method that is called returns is dropped. */
        public <E> Builder on(String type, String version, PayloadDecoder<E> decoder, Handler.Action<E> handler) {
            return add(type, version, new Route.Each<>(decoder, handler, null));
        }

        /**
         * Handles every version of a type that has no handler of its own; a block that ends with {@code return} is such a
         * handler. Its result is in {@link Outcome.Processed} and not kept: for duplicates give a codec as well.
         */
        public <E, T extends @Nullable Object> Builder on(
                String type, PayloadDecoder<E> decoder, Handler<E, T> handler) {
            return add(type, null, new Route.Each<>(decoder, handler, null));
        }

        /** Handles one version of a type; its result is not kept. */
        public <E, T extends @Nullable Object> Builder on(
                String type, String version, PayloadDecoder<E> decoder, Handler<E, T> handler) {
            return add(type, version, new Route.Each<>(decoder, handler, null));
        }

        /** Handles every version of a type, and keeps the result, so that a duplicate is answered with it. */
        public <E, T> Builder on(String type, PayloadDecoder<E> decoder, Handler<E, T> handler, ResultCodec<T> codec) {
            return add(type, null, new Route.Each<>(decoder, handler, Objects.requireNonNull(codec, "codec")));
        }

        /** Handles one version of a type, and keeps the result. */
        public <E, T> Builder on(
                String type, String version, PayloadDecoder<E> decoder, Handler<E, T> handler, ResultCodec<T> codec) {
            return add(type, version, new Route.Each<>(decoder, handler, Objects.requireNonNull(codec, "codec")));
        }

        /** Handles everything that has no handler of its own, also messages without a type. */
        public Builder otherwise(Handler.Action<Message> handler) {
            return fallback(new Route.Each<>(PayloadDecoder.message(), handler, null));
        }

        /** Handles everything that has no handler of its own; its result is in {@link Outcome.Processed} and not kept. */
        public <T extends @Nullable Object> Builder otherwise(Handler<Message, T> handler) {
            return fallback(new Route.Each<>(PayloadDecoder.message(), handler, null));
        }

        /** Handles every version of a type that has no handler of its own, many messages in one call. */
        public <E> Builder onAll(String type, PayloadDecoder<E> decoder, BatchHandler<E> handler) {
            return add(type, null, new Route.Together<>(decoder, handler));
        }

        /** Handles one version of a type, many messages in one call. */
        public <E> Builder onAll(String type, String version, PayloadDecoder<E> decoder, BatchHandler<E> handler) {
            return add(type, version, new Route.Together<>(decoder, handler));
        }

        /** Handles everything that has no handler of its own, many messages in one call. */
        public Builder otherwiseAll(BatchHandler<Message> handler) {
            return fallback(new Route.Together<>(PayloadDecoder.message(), handler));
        }

        /** Handles every version of a type in steps. Only for consumers that are queued and leased. */
        public <E> Builder onSteps(String type, PayloadDecoder<E> decoder, StepHandler<E> handler) {
            return add(type, null, new Route.Stepwise<>(decoder, handler));
        }

        /** Handles one version of a type in steps. */
        public <E> Builder onSteps(String type, String version, PayloadDecoder<E> decoder, StepHandler<E> handler) {
            return add(type, version, new Route.Stepwise<>(decoder, handler));
        }

        /** Handles everything that has no handler of its own in steps. */
        public Builder otherwiseSteps(StepHandler<Message> handler) {
            return fallback(new Route.Stepwise<>(PayloadDecoder.message(), handler));
        }

        private Builder add(String type, @Nullable String version, Route route) {
            routes.add(type, version, route);
            return this;
        }

        private Builder fallback(Route route) {
            routes.otherwise(route);
            return this;
        }

        /**
         * The consumer.
         *
         * @throws IllegalArgumentException when it has two things that contradict each other, saying which
         */
        public Consumer build() {
            Consumer consumer = new Consumer(this);
            ConsumerRules.check(consumer, keyChosen, consumer.routes.keepResults());
            return consumer;
        }
    }
}
