package dev.idem.kafka;

import dev.idem.IdemException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * Reads a topic of dead letters, partition after partition, up to the end it had at first. Each partition is read twice:
 * what is crossed out stands behind what it crosses out. It is remembered in one bit for each offset. Used by one thread.
 */
final class LetterReader implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Pattern PLACE = Pattern.compile("(\\d{1,9})-(\\d{1,18})");

    private final Consumer<byte[], byte[]> consumer;
    private final String topic;
    private final Map<Integer, Range> ranges = new TreeMap<>();
    private final Iterator<Range> unread;
    private final Deque<ConsumerRecord<byte[], byte[]>> fetched = new ArrayDeque<>();
    private @Nullable Range current;
    private long position;

    /** A partition between two offsets. */
    private record Range(TopicPartition partition, long begin, long end, BitSet crossedOut) {
        /** What stands behind it cannot have been read by who wrote it. */
        void crossOut(long offset, long by) {
            if (offset >= begin && offset < Math.min(end, by)) {
                crossedOut.set(Math.toIntExact(offset - begin));
            }
        }

        boolean has(ConsumerRecord<byte[], byte[]> record) {
            return record.offset() < end && !crossedOut.get(Math.toIntExact(record.offset() - begin));
        }
    }

    LetterReader(Map<String, Object> config, String topic) {
        this.topic = topic;
        consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        try {
            List<TopicPartition> all = consumer.partitionsFor(topic, LIMIT).stream()
                    .map(info -> new TopicPartition(topic, info.partition()))
                    .toList();
            Map<TopicPartition, Long> begins = consumer.beginningOffsets(all, LIMIT);
            Map<TopicPartition, Long> ends = consumer.endOffsets(all, LIMIT);
            for (TopicPartition partition : all) {
                Range range = new Range(
                        partition, begins.getOrDefault(partition, 0L), ends.getOrDefault(partition, 0L), new BitSet());
                ranges.put(partition.partition(), range);
                readCrossedOut(range);
            }
        } catch (RuntimeException failure) {
            close();
            throw failure;
        }
        unread = ranges.values().iterator();
    }

    private void readCrossedOut(Range range) {
        go(range, range.begin);
        while (position < range.end) {
            fetch();
            for (var record = fetched.poll(); record != null; record = fetched.poll()) {
                Matcher named = PLACE.matcher(crossingOut(record));
                if (named.matches() && Integer.parseInt(named.group(1)) == range.partition.partition()) {
                    range.crossOut(Long.parseLong(named.group(2)), record.offset());
                }
            }
        }
    }

    /**
     * The place that a record crosses out; empty if it is an ordinary one. Ours have neither key nor value and no other
     * header; a copy of somebody's record always has others.
     */
    private static String crossingOut(ConsumerRecord<byte[], byte[]> record) {
        Header[] headers = record.headers().toArray();
        boolean ours = record.key() == null
                && record.value() == null
                && headers.length == 1
                && headers[0].key().equals(KafkaDeadLetters.REPLAYED)
                && headers[0].value() != null;
        return ours ? new String(headers[0].value(), StandardCharsets.UTF_8) : "";
    }

    /** The next record that is not crossed out; null at the end. */
    @Nullable
    ConsumerRecord<byte[], byte[]> next() {
        for (; ; ) {
            for (var record = fetched.poll(); record != null; record = fetched.poll()) {
                if (current != null
                        && current.has(record)
                        && crossingOut(record).isEmpty()) {
                    return record;
                }
            }
            if (current != null && position < current.end) {
                fetch();
            } else if (unread.hasNext()) {
                Range range = unread.next();
                go(range, range.begin);
            } else {
                return null;
            }
        }
    }

    /** The record at a place that was read before. */
    ConsumerRecord<byte[], byte[]> at(String place) {
        Matcher named = PLACE.matcher(place);
        Range range = named.matches() ? ranges.get(Integer.parseInt(named.group(1))) : null;
        if (range == null) {
            throw new IdemException("There is no place " + place + " in " + topic, null);
        }
        Range before = current;
        long positionBefore = position;
        Deque<ConsumerRecord<byte[], byte[]>> fetchedBefore = new ArrayDeque<>(fetched);
        fetched.clear();
        try {
            long offset = Long.parseLong(named.group(2));
            go(range, offset);
            fetch();
            return fetched.stream()
                    .filter(record -> record.offset() == offset)
                    .findFirst()
                    .orElseThrow(() -> new IdemException("The dead letter " + place + " is gone", null));
        } finally {
            fetched.clear();
            fetched.addAll(fetchedBefore);
            if (before != null) {
                go(before, positionBefore);
            }
        }
    }

    private void go(Range range, long offset) {
        current = range;
        position = offset;
        consumer.assign(List.of(range.partition));
        consumer.seek(range.partition, offset);
    }

    /** Waits for records, or for the position to move over something that is none. */
    private void fetch() {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (System.nanoTime() < deadline) {
            var polled = consumer.poll(POLL);
            polled.forEach(fetched::add);
            var next = current == null ? null : polled.nextOffsets().get(current.partition);
            if (next != null) {
                position = next.offset();
                return;
            }
        }
        throw new TimeoutException("Nothing came from " + topic + " for " + LIMIT.toSeconds() + " s");
    }

    long size() {
        return ranges.values().stream()
                .mapToLong(range -> range.end - range.begin - range.crossedOut.cardinality())
                .sum();
    }

    @Override
    public void close() {
        consumer.close();
    }
}
