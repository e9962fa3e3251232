package dev.idem.kafka;

import dev.idem.replay.ReplaySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * What is still to be read of each partition. It is decided once, when a session begins, and goes on in its cursor: what
 * is produced meanwhile is none of its business. Used by one thread.
 */
final class RangeBounds {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Pattern PART = Pattern.compile("(\\d{1,9}):(\\d{1,18})/(\\d{1,18})/(\\d{1,18})");

    private final Map<Integer, Part> parts = new TreeMap<>();

    /** Offsets of a partition: where it began, where it goes on, where it ends. */
    record Part(long begin, long next, long end) {}

    static RangeBounds of(Consumer<?, ?> consumer, String topic, ReplaySpec spec, Optional<String> cursor) {
        RangeBounds bounds = new RangeBounds();
        if (cursor.isPresent()) {
            bounds.read(cursor.get());
        } else {
            bounds.ask(consumer, topic, spec);
        }
        return bounds;
    }

    private void read(String cursor) {
        for (String part : cursor.split(",", -1)) {
            Matcher matcher = PART.matcher(part);
            if (!matcher.matches()) {
                throw new IllegalArgumentException("the cursor of the session is none of Kafka");
            }
            parts.put(
                    Integer.parseInt(matcher.group(1)),
                    new Part(
                            Long.parseLong(matcher.group(2)),
                            Long.parseLong(matcher.group(3)),
                            Long.parseLong(matcher.group(4))));
        }
    }

    private void ask(Consumer<?, ?> consumer, String topic, ReplaySpec spec) {
        List<TopicPartition> meant = meant(consumer.partitionsFor(topic, LIMIT), topic, spec);
        Map<TopicPartition, Long> begins = consumer.beginningOffsets(meant, LIMIT);
        Map<TopicPartition, Long> ends = consumer.endOffsets(meant, LIMIT);
        Map<TopicPartition, Long> from = offsets(consumer, meant, spec, "from", begins, ends);
        Map<TopicPartition, Long> to = offsets(consumer, meant, spec, "to", ends, ends);
        for (TopicPartition partition : meant) {
            long begin = Math.max(begins.getOrDefault(partition, 0L), from.getOrDefault(partition, 0L));
            long end = Math.min(ends.getOrDefault(partition, 0L), to.getOrDefault(partition, 0L));
            parts.put(partition.partition(), new Part(begin, begin, Math.max(begin, end)));
        }
    }

    private static List<TopicPartition> meant(List<PartitionInfo> all, String topic, ReplaySpec spec) {
        List<Integer> chosen = spec.option("partitions").stream()
                .flatMap(text -> Arrays.stream(text.split(",", -1)))
                .map(text -> Integer.parseInt(text.strip())) // a NumberFormatException is an IllegalArgumentException
                .toList();
        List<Integer> there = all.stream().map(PartitionInfo::partition).toList();
        if (!there.containsAll(chosen)) {
            throw new IllegalArgumentException(topic + " has the partitions " + there + ", not all of " + chosen);
        }
        return (chosen.isEmpty() ? there : chosen)
                .stream().map(number -> new TopicPartition(topic, number)).toList();
    }

    /** The same offset in all partitions, or the first record at or after a time. */
    private static Map<TopicPartition, Long> offsets(
            Consumer<?, ?> consumer,
            List<TopicPartition> meant,
            ReplaySpec spec,
            String option,
            Map<TopicPartition, Long> otherwise,
            Map<TopicPartition, Long> ends) {
        OptionalLong number = spec.number(option);
        Optional<Instant> time = spec.time(option);
        Map<TopicPartition, Long> found = new HashMap<>(otherwise);
        if (number.isPresent()) {
            meant.forEach(partition -> found.put(partition, number.getAsLong()));
        } else if (time.isPresent()) {
            Map<TopicPartition, Long> asked = meant.stream()
                    .collect(Collectors.toMap(p -> p, p -> time.get().toEpochMilli()));
            consumer.offsetsForTimes(asked, LIMIT)
                    .forEach((partition, at) ->
                            found.put(partition, at == null ? ends.getOrDefault(partition, 0L) : at.offset()));
        }
        return found;
    }

    /** The first partition that is not at its end. */
    Optional<Integer> unread() {
        return parts.entrySet().stream()
                .filter(part -> part.getValue().next < part.getValue().end)
                .map(Map.Entry::getKey)
                .findFirst();
    }

    Part of(int partition) {
        Part part = parts.get(partition);
        if (part == null) {
            throw new IllegalArgumentException("partition " + partition + " is not read");
        }
        return part;
    }

    void advance(int partition, long next) {
        parts.computeIfPresent(partition, (p, part) -> new Part(part.begin, Math.max(part.next, next), part.end));
    }

    /** Gaps of transactions and compaction are counted too. */
    long total() {
        return parts.values().stream().mapToLong(part -> part.end - part.begin).sum();
    }

    String cursor() {
        return parts.entrySet().stream()
                .map(part -> part.getKey() + ":" + part.getValue().begin + "/" + part.getValue().next + "/"
                        + part.getValue().end)
                .collect(Collectors.joining(","));
    }
}
