package dev.idem.kafka;

import dev.idem.Header;
import dev.idem.IdemException;
import dev.idem.Message;
import dev.idem.broker.DeadLetter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Sends copies of records, byte for byte but without headers that are ours to write, and returns when the broker has them.
 * Thread-safe.
 */
final class DeadLetterSender implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int LONGEST_TEXT = 1_000;

    private final Producer<byte[], byte[]> producer;

    DeadLetterSender(Map<String, Object> config) {
        producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Sends the dead letter of a record. One that is too large is told more briefly: nothing of the record is left out. */
    void setAside(ConsumerRecord<byte[], byte[]> record, String topic, DeadLetter letter) throws Exception {
        DeadLetter told = shortened(letter, LONGEST_TEXT)
                .from(Map.of(
                        Origin.TOPIC, record.topic(),
                        Origin.PARTITION, Integer.toString(record.partition()),
                        Origin.OFFSET, Long.toString(record.offset()),
                        Origin.TIMESTAMP, Long.toString(record.timestamp())));
        Message nothing = Message.builder().build(); // what a producer says about replays is not believed
        try {
            try {
                send(copy(record, topic, null, told.ours(nothing)));
            } catch (RecordTooLargeException tooLarge) {
                send(copy(record, topic, null, shortened(told, 0).ours(nothing)));
            }
        } catch (RecordTooLargeException tooLarge) {
            throw new IdemException(
                    "Topic " + topic + " does not take the dead letter of " + record.topic() + "-" + record.partition()
                            + "@" + record.offset() + ": " + tooLarge.getMessage()
                            + " Raise max.message.bytes of the topic",
                    tooLarge);
        }
    }

    private static DeadLetter shortened(DeadLetter letter, int longest) {
        return new DeadLetter(
                letter.consumer(),
                letter.reason(),
                shortened(letter.detail(), longest),
                shortened(letter.error(), longest),
                letter.attempts(),
                letter.at(),
                letter.replayForbidden(),
                letter.origin());
    }

    private static Optional<String> shortened(Optional<String> text, int longest) {
        return text.map(all -> all.length() <= longest ? all : all.substring(0, longest))
                .filter(all -> !all.isEmpty());
    }

    /**
     * Sends the message of a dead letter to where it came from: to its partition, for its producer may have another rule than
     * ours for which key goes where; or where the key leads, if the topic has become smaller.
     */
    void sendAgain(ConsumerRecord<byte[], byte[]> letter, String topic, int partition) throws Exception {
        boolean there = partition < producer.partitionsFor(topic).size();
        send(copy(letter, topic, there ? partition : null, DeadLetter.headersOfReplay(ours(letter))));
    }

    void send(ProducerRecord<byte[], byte[]> record) throws Exception {
        try {
            producer.send(record).get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException failure) {
            throw failure.getCause() instanceof Exception cause ? cause : failure;
        }
    }

    private static ProducerRecord<byte[], byte[]> copy(
            ConsumerRecord<byte[], byte[]> record, String topic, @Nullable Integer partition, List<Header> added) {
        Headers headers = new RecordHeaders();
        for (org.apache.kafka.common.header.Header header : record.headers()) {
            if (!DeadLetter.isOurs(header.key())) {
                headers.add(header);
            }
        }
        added.forEach(header -> headers.add(header.name(), header.value()));
        boolean timed = record.timestampType() == TimestampType.CREATE_TIME && record.timestamp() >= 0;
        return new ProducerRecord<>(
                topic, partition, timed ? record.timestamp() : null, record.key(), record.value(), headers);
    }

    /** The record that a letter was made of, for whoever reads attributes by its place; only where its headers are ours. */
    static ConsumerRecord<byte[], byte[]> asItWas(ConsumerRecord<byte[], byte[]> letter) {
        DeadLetter about = DeadLetter.of(ours(letter)).orElse(null);
        if (about == null) {
            return letter;
        }
        return new ConsumerRecord<>(
                about.origin().getOrDefault(Origin.TOPIC, letter.topic()),
                (int) number(about, Origin.PARTITION, letter.partition()),
                number(about, Origin.OFFSET, letter.offset()),
                letter.timestamp(),
                letter.timestampType(),
                letter.serializedKeySize(),
                letter.serializedValueSize(),
                letter.key(),
                letter.value(),
                letter.headers(),
                letter.leaderEpoch());
    }

    private static long number(DeadLetter about, String name, long otherwise) {
        try {
            return Math.max(0, Long.parseLong(about.origin().getOrDefault(name, "")));
        } catch (NumberFormatException malformed) {
            return otherwise;
        }
    }

    /** A message with our own headers only: the others are copied as they are, even those without a value. */
    private static Message ours(ConsumerRecord<byte[], byte[]> record) {
        Message.Builder message = Message.builder();
        for (org.apache.kafka.common.header.Header header : record.headers()) {
            if (DeadLetter.isOurs(header.key()) && header.value() != null) {
                message.header(header.key(), header.value());
            }
        }
        return message.build();
    }

    /** What a dead letter tells about where it came from. */
    static final class Origin {
        static final String TOPIC = "topic";
        static final String PARTITION = "partition";
        static final String OFFSET = "offset";
        static final String TIMESTAMP = "timestamp";

        private Origin() {}
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(5));
    }
}
