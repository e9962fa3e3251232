package dev.idem.kafka;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.broker.DeliveryHeaders;
import dev.idem.broker.spi.ListenerBuilder;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.consumer.ConsumerRecord;

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
    public static final String TOMBSTONE = DeliveryHeaders.TOMBSTONE;

    static final String DEAD_LETTERS = ".dead-letters";

    private KafkaInbox() {}

    /** Starts a listener with defaults for everything else. */
    public static KafkaInboxListener listen(
            Map<?, ?> consumerConfig, Collection<String> topics, Consumer consumer, Inbox inbox) {
        return builder(consumerConfig, topics, consumer, inbox).listen();
    }

    /**
     * A listener to be.
     *
     * @param consumerConfig as {@code KafkaConsumer} takes it, a map or {@link java.util.Properties}; {@code bootstrap.servers}
     *     and {@code group.id} are needed
     */
    public static Builder builder(Map<?, ?> consumerConfig, Collection<String> topics, Consumer consumer, Inbox inbox) {
        return new Builder(consumerConfig, topics, consumer, inbox);
    }

    /**
     * Collects what is optional. What is kept in memory ({@link #maxPending}, {@link #maxPendingBytes}) is shared by the
     * instances; each has its own {@link #parallelism}. When a partition is taken away, what is being worked on may take as
     * long as {@link #drain} says, and at most half of {@code max.poll.interval.ms}. Not thread-safe.
     */
    public static final class Builder extends ListenerBuilder<Builder, ConsumerRecord<byte[], byte[]>> {
        private final ClientConfig config;
        private final List<String> topics;
        private UnaryOperator<String> deadLetters = topic -> topic + DEAD_LETTERS;
        private int instances = 1;
        private Tombstones tombstones = Tombstones.PROCESS;
        private boolean trustOffsets;

        private Builder(Map<?, ?> consumerConfig, Collection<String> topics, Consumer consumer, Inbox inbox) {
            super(KafkaMessages.reader(), consumer, inbox);
            config = new ClientConfig(consumerConfig);
            this.topics = topics.stream().distinct().toList();
        }

        @Override
        protected Builder self() {
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

        /** How many members of the group this listener is, each with a thread that polls; default 1. */
        public Builder instances(int members) {
            if (members < 1) {
                throw new IllegalArgumentException("instances is " + members + ", but must be at least 1");
            }
            instances = members;
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
         * Starts listening. A broker that does not answer and a topic that is not there are waited for. Topics of dead
         * letters that are missing are created when the topic of the records is there.
         *
         * @throws IllegalArgumentException if the configuration is one that could lose records, and says why
         * @throws org.apache.kafka.common.KafkaException if Kafka's client refuses the configuration
         */
        public KafkaInboxListener listen() {
            config.check();
            Plan plan = new Plan(
                    config, topics, consumer(), inbox(), options(), deadLetters, instances, tombstones, trustOffsets);
            if (topics.isEmpty()) {
                throw new IllegalArgumentException("there is no topic to listen to");
            }
            topics.forEach(Refusal::checkedName);
            for (String topic : plan.deadLetterTopics()) {
                if (topics.contains(Refusal.checkedName(topic))) {
                    throw new IllegalArgumentException("dead letters would go to " + topic + ", which is listened to");
                }
            }
            return new KafkaInboxListener(plan);
        }
    }
}
