package dev.idem.kafka;

import dev.idem.IdemException;
import dev.idem.broker.Attributes;
import dev.idem.broker.MessageReader;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySource;
import dev.idem.replay.ReplaySpec;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;

/**
 * Replays a range of a topic: {@code kafka:topic=orders;partitions=0,1;from=100;to=200}. {@code from} (at it, or after it)
 * and {@code to} (before it) are offsets or times like {@code 2026-03-02T09:00:00Z}; without them everything that is there
 * when the session begins. Reads what is committed, without a group, partition after partition; the messages are those that
 * a listener with the same attributes takes from these records. Immutable and thread-safe.
 */
public final class KafkaRange implements ReplaySource {
    private final ClientConfig config;
    private final MessageReader<ConsumerRecord<byte[], byte[]>> messages;
    private final Tombstones tombstones;

    private KafkaRange(
            ClientConfig config, MessageReader<ConsumerRecord<byte[], byte[]>> messages, Tombstones tombstones) {
        this.config = config;
        this.messages = messages;
        this.tombstones = tombstones;
    }

    /** Ranges of the topics of a cluster, with the configuration of any client; {@code bootstrap.servers} is needed. */
    public static KafkaRange of(Map<?, ?> config) {
        return new KafkaRange(new ClientConfig(config), KafkaMessages.reader(), Tombstones.PROCESS);
    }

    /** Where id, type and the rest come from: give it what the listener has, else the messages have other keys. */
    public KafkaRange attributes(Attributes value) {
        return new KafkaRange(config, messages.attributes(value), tombstones);
    }

    /** How a record becomes a message: give it what the listener has; takes the place of {@link #attributes}. */
    public KafkaRange messages(MessageReader<ConsumerRecord<byte[], byte[]>> value) {
        return new KafkaRange(config, Objects.requireNonNull(value, "value"), tombstones);
    }

    /** What becomes of records without a value: give it what the listener has. */
    public KafkaRange tombstones(Tombstones value) {
        return new KafkaRange(config, messages, Objects.requireNonNull(value, "value"));
    }

    @Override
    public String scheme() {
        return "kafka";
    }

    @Override
    public Reading open(ReplaySession session, ReplaySpec spec) {
        spec.only(Set.of("topic", "partitions", "from", "to"));
        String topic = spec.required("topic");
        try {
            return RangeReader.open(config, topic, spec, session.cursor(), messages, tombstones);
        } catch (KafkaException failure) {
            throw new IdemException(
                    "Could not read " + topic
                            + ": check that the brokers are there, that the topic exists, and that the"
                            + " user may read it",
                    failure);
        }
    }
}
