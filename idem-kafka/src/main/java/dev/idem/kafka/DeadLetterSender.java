package dev.idem.kafka;

import dev.idem.Header;
import dev.idem.Message;
import dev.idem.broker.DeadLetter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** Sends copies of records, byte for byte, and returns when the broker has them. Thread-safe. */
final class DeadLetterSender implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final Producer<byte[], byte[]> producer;

    DeadLetterSender(Map<String, Object> config) {
        producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Sends the dead letter of a record. */
    void setAside(ConsumerRecord<byte[], byte[]> record, String topic, DeadLetter letter) throws Exception {
        DeadLetter told = letter.from(Map.of(
                Origin.TOPIC, record.topic(),
                Origin.PARTITION, Integer.toString(record.partition()),
                Origin.OFFSET, Long.toString(record.offset()),
                Origin.TIMESTAMP, Long.toString(record.timestamp())));
        send(copy(record, topic, null, told.headers(ours(record))));
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
        producer.send(record).get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static ProducerRecord<byte[], byte[]> copy(
            ConsumerRecord<byte[], byte[]> record, String topic, @Nullable Integer partition, List<Header> added) {
        Headers headers = new RecordHeaders();
        for (org.apache.kafka.common.header.Header header : record.headers()) {
            if (!isOurs(header)) {
                headers.add(header);
            }
        }
        added.forEach(header -> headers.add(header.name(), header.value()));
        boolean timed = record.timestampType() == TimestampType.CREATE_TIME && record.timestamp() >= 0;
        return new ProducerRecord<>(
                topic, partition, timed ? record.timestamp() : null, record.key(), record.value(), headers);
    }

    /** A message with our own headers only: the others are copied as they are, even those without a value. */
    private static Message ours(ConsumerRecord<byte[], byte[]> record) {
        Message.Builder message = Message.builder();
        for (org.apache.kafka.common.header.Header header : record.headers()) {
            if (isOurs(header)) {
                message.headers(List.of(Records.header(header)));
            }
        }
        return message.build();
    }

    private static boolean isOurs(org.apache.kafka.common.header.Header header) {
        return DeadLetter.withoutOurs(List.of(Records.header(header))).isEmpty();
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
