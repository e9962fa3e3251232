package dev.idem.kafka;

import dev.idem.IdemException;
import dev.idem.Message;
import dev.idem.Position;
import dev.idem.broker.MessageReader;
import dev.idem.replay.ReplaySource;
import dev.idem.replay.ReplaySpec;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/** Reads a range of a topic, one partition after the other. Used by one thread. */
final class RangeReader implements ReplaySource.Reading {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Consumer<byte[], byte[]> consumer;
    private final String topic;
    private final String stream;
    private final RangeBounds bounds;
    private final MessageReader<ConsumerRecord<byte[], byte[]>> reader;
    private final Tombstones tombstones;
    private final Deque<ConsumerRecord<byte[], byte[]>> fetched = new ArrayDeque<>();
    private @Nullable TopicPartition current;
    private long fetchedUpTo;

    private RangeReader(
            Consumer<byte[], byte[]> consumer,
            String topic,
            String stream,
            RangeBounds bounds,
            MessageReader<ConsumerRecord<byte[], byte[]>> reader,
            Tombstones tombstones) {
        this.consumer = consumer;
        this.topic = topic;
        this.stream = stream;
        this.bounds = bounds;
        this.reader = reader;
        this.tombstones = tombstones;
    }

    static RangeReader open(
            ClientConfig config,
            String topic,
            ReplaySpec spec,
            Optional<String> cursor,
            MessageReader<ConsumerRecord<byte[], byte[]>> reader,
            Tombstones tombstones) {
        String stream = stream(config, topic);
        Map<String, Object> reading = new HashMap<>(config.reader());
        reading.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        Consumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(reading, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        try {
            RangeBounds bounds = RangeBounds.of(consumer, topic, spec, cursor);
            return new RangeReader(consumer, topic, stream, bounds, reader, tombstones);
        } catch (RuntimeException failure) {
            consumer.close();
            throw failure;
        }
    }

    /** As a listener names it, so that positions are the same. */
    private static String stream(ClientConfig config, String topic) {
        try (Admin admin = Admin.create(config.admin())) {
            Waits waits = new Waits("replay of " + topic);
            waits.end(); // what is missing is thrown
            Streams streams = new Streams(admin, Set.of(topic), LIMIT, waits);
            streams.refresh();
            return streams.name(topic)
                    .orElseThrow(() -> new IdemException(
                            "Could not read " + topic + ": there is no such topic, or no broker answers", null));
        }
    }

    @Override
    public ReplaySource.Batch next(int most) {
        try {
            List<Message> messages = new ArrayList<>();
            while (messages.size() < most && filled()) {
                ConsumerRecord<byte[], byte[]> record = fetched.poll();
                if (record == null) {
                    continue;
                }
                bounds.advance(record.partition(), record.offset() + 1);
                if (record.value() != null || tombstones == Tombstones.PROCESS) {
                    messages.add(message(record));
                }
            }
            return new ReplaySource.Batch(
                    messages,
                    bounds.cursor(),
                    fetched.isEmpty() && bounds.unread().isEmpty());
        } catch (KafkaException failure) {
            throw new IdemException("Could not read " + topic, failure);
        }
    }

    private Message message(ConsumerRecord<byte[], byte[]> record) {
        Position position = new Position(stream, record.partition(), record.offset());
        return reader.read(record).toBuilder().position(position).build();
    }

    /** False at the end of everything; else something was fetched, or passed over. */
    private boolean filled() {
        if (!fetched.isEmpty()) {
            return true;
        }
        if (current != null) { // all that was fetched is read, and so is what was no record
            bounds.advance(current.partition(), fetchedUpTo);
        }
        Optional<Integer> unread = bounds.unread();
        if (unread.isEmpty()) {
            return false;
        }
        TopicPartition wanted = new TopicPartition(topic, unread.get());
        if (!wanted.equals(current)) {
            consumer.assign(List.of(wanted));
            consumer.seek(wanted, bounds.of(wanted.partition()).next());
            current = wanted;
        }
        fetch(wanted);
        return true;
    }

    private void fetch(TopicPartition partition) {
        long end = bounds.of(partition.partition()).end();
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (System.nanoTime() < deadline) {
            var polled = consumer.poll(POLL);
            for (ConsumerRecord<byte[], byte[]> record : polled) {
                if (record.offset() < end) {
                    fetched.add(record);
                }
            }
            var next = polled.nextOffsets().get(partition);
            if (next != null) {
                fetchedUpTo = next.offset();
                return;
            }
        }
        throw new IdemException("Nothing came from " + topic + " for " + LIMIT.toSeconds() + " s", null);
    }

    @Override
    public OptionalLong total() {
        return OptionalLong.of(bounds.total());
    }

    @Override
    public void close() {
        consumer.close();
    }
}
