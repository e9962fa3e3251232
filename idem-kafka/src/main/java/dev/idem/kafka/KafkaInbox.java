package dev.idem.kafka;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.RetryPolicy;
import dev.idem.broker.Attributes;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Takes the records of Kafka topics through an inbox. An offset is committed when the inbox has decided about every record
 * before it, and never earlier; what must be set aside is first confirmed by the broker in a topic of dead letters.
 *
 * <pre>{@code
 * KafkaListener listener = KafkaInbox.listen(
 *         Map.of("bootstrap.servers", "localhost:9092", "group.id", "billing"), List.of("orders"), consumer, inbox);
 * }</pre>
 */
public final class KafkaInbox {
    /** A header that a message has if its record had no value. */
    public static final String TOMBSTONE = "idem-tombstone";

    private KafkaInbox() {}

    /** Starts a listener with defaults for everything else. */
    public static KafkaListener listen(
            Map<String, Object> consumerConfig, Collection<String> topics, Consumer consumer, Inbox inbox) {
        return builder(consumerConfig, topics, consumer, inbox).listen();
    }

    /**
     * A listener to be.
     *
     * @param consumerConfig as {@code KafkaConsumer} takes it; {@code bootstrap.servers} and {@code group.id} are needed
     */
    public static Builder builder(
            Map<String, Object> consumerConfig, Collection<String> topics, Consumer consumer, Inbox inbox) {
        return new Builder(consumerConfig, topics, consumer, inbox);
    }

    /** Collects what is optional. Not thread-safe. */
    public static final class Builder {
        private final ClientConfig config;
        private final List<String> topics;
        private final Consumer consumer;
        private final Inbox inbox;
        private Attributes attributes = Attributes.defaults();
        private RetryPolicy retry = RetryPolicy.exponential(Duration.ofMillis(200), Duration.ofSeconds(30));
        private UnaryOperator<String> deadLetters = topic -> topic + ".dead-letters";
        private int parallelism = 1;
        private int instances = 1;
        private @Nullable ThreadFactory threads;
        private Duration drain = Duration.ofSeconds(20);
        private int maxPending = 2_000;
        private Tombstones tombstones = Tombstones.PROCESS;
        private boolean trustOffsets;

        private Builder(Map<String, Object> consumerConfig, Collection<String> topics, Consumer consumer, Inbox inbox) {
            config = new ClientConfig(consumerConfig);
            this.topics = topics.stream().distinct().toList();
            this.consumer = Objects.requireNonNull(consumer, "consumer");
            this.inbox = Objects.requireNonNull(inbox, "inbox");
        }

        /** Where id, type and the rest come from; default CloudEvents headers, then the record's key and time. */
        public Builder attributes(Attributes value) {
            attributes = Objects.requireNonNull(value, "value");
            return this;
        }

        /** When a record whose handler failed is tried again; default 10 times, after 200 ms to 30 s. */
        public Builder retry(RetryPolicy value) {
            retry = Objects.requireNonNull(value, "value");
            return this;
        }

        /** The topic of dead letters, for all topics. */
        public Builder deadLetters(String topic) {
            Objects.requireNonNull(topic, "topic");
            return deadLetters((String from) -> topic);
        }

        /** The topic of dead letters by the topic of the record; default its name and {@code .dead-letters}. */
        public Builder deadLetters(UnaryOperator<String> byTopic) {
            deadLetters = Objects.requireNonNull(byTopic, "byTopic");
            return this;
        }

        /**
         * How many lanes of each instance work side by side; default 1. Records with the same key stay in one lane and
         * keep their order. Each lane needs a connection to the database.
         */
        public Builder parallelism(int lanes) {
            parallelism = atLeastOne("parallelism", lanes);
            return this;
        }

        /** How many members of the group this listener is, each with a thread that polls; default 1. */
        public Builder instances(int members) {
            instances = atLeastOne("instances", members);
            return this;
        }

        /** Makes all threads; by default those that poll keep the process alive, and those that work do not. */
        public Builder threads(ThreadFactory factory) {
            threads = Objects.requireNonNull(factory, "factory");
            return this;
        }

        /**
         * How long what is being worked on may take when a partition is taken away or the listener is closed; default 20 s,
         * and in a rebalance at most half of {@code max.poll.interval.ms}. What takes longer is delivered again elsewhere.
         */
        public Builder drain(Duration longest) {
            if (longest.isNegative()) {
                throw new IllegalArgumentException("drain is " + longest + ", but must not be negative");
            }
            drain = longest;
            return this;
        }

        /** How many records each instance keeps at most before it fetches no more, about; default 2000. */
        public Builder maxPending(int records) {
            maxPending = atLeastOne("maxPending", records);
            return this;
        }

        /** What becomes of records without a value; default {@link Tombstones#PROCESS}. */
        public Builder tombstones(Tombstones policy) {
            tombstones = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /**
         * Whether committed offsets are believed although the store does not know of them; default no: a listener whose
         * store was restored from a backup, or made anew, fails with {@link dev.idem.StoreReplacedException}, which says
         * what to do. For development, where the database is thrown away more often than the broker.
         */
        public Builder trustOffsets(boolean value) {
            trustOffsets = value;
            return this;
        }

        /**
         * Starts listening. If no broker answers yet, the listener goes on trying.
         *
         * @throws IllegalArgumentException if the configuration is one that could lose records, and says why
         * @throws dev.idem.IdemException if a topic of dead letters is missing and could not be created
         */
        public KafkaListener listen() {
            config.check();
            Plan plan = new Plan(
                    config,
                    topics,
                    consumer,
                    inbox,
                    attributes,
                    retry,
                    deadLetters,
                    parallelism,
                    instances,
                    threads,
                    drain,
                    maxPending,
                    tombstones,
                    trustOffsets);
            if (topics.isEmpty()) {
                throw new IllegalArgumentException("there is no topic to listen to");
            }
            for (String topic : plan.deadLetterTopics()) {
                if (topics.contains(topic)) {
                    throw new IllegalArgumentException("dead letters would go to " + topic + ", which is listened to");
                }
            }
            return new KafkaListener(plan);
        }

        private static int atLeastOne(String name, int value) {
            if (value < 1) {
                throw new IllegalArgumentException(name + " is " + value + ", but must be at least 1");
            }
            return value;
        }
    }
}
