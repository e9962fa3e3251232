package dev.idem.kafka;

import dev.idem.broker.spi.KeyedExecutor;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partitions that a consumer has, and what is committed for them. A commit that fails is harmless: what it would have
 * said is said by a later one, or the records are delivered again and recognised.
 *
 * <p>Used by the thread that polls; only {@link #status} is for others.
 */
final class Assignments implements ConsumerRebalanceListener {
    private static final Logger log = LoggerFactory.getLogger(Assignments.class);
    private static final Duration COMMIT_LIMIT = Duration.ofSeconds(5);
    private static final long COMMIT_EVERY_NANOS = Duration.ofMillis(200).toNanos();
    private static final long ENDS_EVERY_NANOS = Duration.ofSeconds(1).toNanos();
    private static final Duration ENDS_LIMIT = Duration.ofSeconds(1);

    private final Consumer<byte[], byte[]> consumer;
    private final KeyedExecutor<Taken> lanes;
    private final Streams streams;
    private final OffsetGuard guard;
    private final Duration drain;
    private final Map<TopicPartition, PartitionOffsets> partitions = new ConcurrentHashMap<>();
    private long lastCommit = System.nanoTime();
    private long lastEnds = lastCommit;
    private volatile boolean joined;

    Assignments(
            Consumer<byte[], byte[]> consumer,
            KeyedExecutor<Taken> lanes,
            Streams streams,
            OffsetGuard guard,
            Duration drain) {
        this.consumer = consumer;
        this.lanes = lanes;
        this.streams = streams;
        this.guard = guard;
        this.drain = drain;
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> added) {
        streams.refresh();
        added.forEach(partition -> partitions.put(partition, new PartitionOffsets(partition)));
        joined = true;
        log.debug("Assigned {}", added);
    }

    /**
     * Compares the offsets of new partitions with the store, and with the ids of their topics. Those whose offset is one of a
     * topic that was deleted begin at the start; they are answered, and what was fetched of them must be left.
     *
     * @see OffsetGuard#admit
     */
    Set<TopicPartition> admitNew() {
        Map<TopicPartition, String> fresh = new HashMap<>();
        partitions.forEach((partition, offsets) -> {
            if (!offsets.isAdmitted()) {
                streams.name(partition.topic()).ifPresent(name -> fresh.put(partition, name));
            }
        });
        if (fresh.isEmpty()) {
            return Set.of();
        }
        Set<TopicPartition> others = guard.admit(consumer, fresh);
        if (!others.isEmpty()) {
            log.warn("{}: committed offsets are of a topic that was deleted; begins at the start", others);
            consumer.seekToBeginning(others);
        }
        partitions.forEach((partition, offsets) -> {
            String name = fresh.get(partition);
            if (name != null) {
                offsets.admit(name);
            }
        });
        return others;
    }

    /** Begins partitions at their start whose topic is another one by now, and forgets what came of the old one. */
    void beginAnew() {
        Set<TopicPartition> others = partitions.values().stream()
                .filter(this::isAnother)
                .map(PartitionOffsets::partition)
                .collect(Collectors.toSet());
        if (others.isEmpty()) {
            return;
        }
        log.warn("{}: the topic was deleted and made again; begins at its start", others);
        onPartitionsLost(others);
        others.forEach(partition -> partitions.put(partition, new PartitionOffsets(partition)));
        consumer.seekToBeginning(others);
    }

    private boolean isAnother(PartitionOffsets offsets) {
        Optional<String> now = streams.name(offsets.partition().topic());
        return now.isPresent()
                && offsets.stream().filter(then -> !now.get().equals(then)).isPresent();
    }

    /** Begins nothing more of them, lets finish what was begun, and commits what is finished. */
    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
        Set<PartitionOffsets> leaving = remove(revoked);
        if (leaving.isEmpty()) {
            return;
        }
        boolean drained = lanes.forget(taken -> leaving.contains(taken.offsets()), drain);
        leaving.forEach(PartitionOffsets::drop);
        log.debug("Revoked {}, drained: {}", revoked, drained);
        commit(leaving);
    }

    /** They belong to somebody else already, so nothing is waited for and nothing committed. */
    @Override
    public void onPartitionsLost(Collection<TopicPartition> lost) {
        Set<PartitionOffsets> leaving = remove(lost);
        leaving.forEach(PartitionOffsets::drop);
        lanes.forget(taken -> leaving.contains(taken.offsets()), Duration.ZERO);
        log.debug("Lost {}", lost);
    }

    private Set<PartitionOffsets> remove(Collection<TopicPartition> gone) {
        Set<PartitionOffsets> removed = new HashSet<>();
        for (TopicPartition partition : gone) {
            PartitionOffsets offsets = partitions.remove(partition);
            if (offsets != null) {
                removed.add(offsets);
            }
        }
        return removed;
    }

    /**
     * The partition of a record that begins at this offset. One whose offsets have gone back is begun anew: its topic was
     * deleted and made again, or its end was lost.
     */
    @Nullable
    PartitionOffsets of(TopicPartition partition, long first) {
        PartitionOffsets known = partitions.get(partition);
        if (known != null && known.isBehind(first)) {
            onPartitionsLost(List.of(partition));
            onPartitionsAssigned(List.of(partition));
        }
        return partitions.get(partition);
    }

    void movedTo(Map<TopicPartition, OffsetAndMetadata> positions) {
        positions.forEach((partition, next) -> {
            PartitionOffsets offsets = partitions.get(partition);
            if (offsets != null && offsets.isAdmitted()) {
                offsets.moveTo(next.offset());
            }
        });
    }

    /**
     * Commits what has moved, without waiting, a few times each second.
     *
     * @param paused whether nothing is fetched because somebody wants it so
     */
    void commitNowAndThen(boolean paused) {
        if (System.nanoTime() - lastCommit < COMMIT_EVERY_NANOS) {
            return;
        }
        lastCommit = System.nanoTime();
        for (TopicPartition partition : consumer.assignment()) {
            PartitionOffsets offsets = partitions.get(partition);
            if (offsets != null && !paused) {
                offsets.lag(consumer.currentLag(partition));
            }
        }
        if (paused && System.nanoTime() - lastEnds >= ENDS_EVERY_NANOS) {
            lastEnds = System.nanoTime();
            askForEnds();
        }
        Map<PartitionOffsets, Long> moved = moved(partitions.values());
        if (!moved.isEmpty()) {
            consumer.commitAsync(toCommit(moved), (committed, failure) -> settle(moved, failure));
        }
    }

    /** The client learns the ends of partitions by fetching, and of paused ones nothing is fetched. */
    private void askForEnds() {
        try {
            consumer.endOffsets(partitions.keySet(), ENDS_LIMIT).forEach((partition, end) -> {
                PartitionOffsets offsets = partitions.get(partition);
                if (offsets != null) {
                    offsets.end(end);
                }
            });
        } catch (KafkaException noAnswer) {
            log.debug("The ends of the partitions are not known", noAnswer);
        }
    }

    void commitAll() {
        commit(partitions.values());
    }

    private void commit(Collection<PartitionOffsets> which) {
        Map<PartitionOffsets, Long> moved = moved(which);
        if (moved.isEmpty()) {
            return;
        }
        Exception problem = null;
        try {
            consumer.commitSync(toCommit(moved), COMMIT_LIMIT);
        } catch (KafkaException failure) {
            problem = failure;
        }
        settle(moved, problem);
    }

    private static Map<PartitionOffsets, Long> moved(Collection<PartitionOffsets> which) {
        Map<PartitionOffsets, Long> moved = new HashMap<>();
        which.forEach(offsets -> offsets.takeMoved().ifPresent(offset -> moved.put(offsets, offset)));
        return moved;
    }

    private Map<TopicPartition, OffsetAndMetadata> toCommit(Map<PartitionOffsets, Long> moved) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        moved.forEach((partition, offset) ->
                offsets.put(partition.partition(), new OffsetAndMetadata(offset, guard.metadata(partition.stream()))));
        return offsets;
    }

    private static void settle(Map<PartitionOffsets, Long> moved, @Nullable Exception failure) {
        if (failure == null) {
            moved.forEach(PartitionOffsets::accepted);
        } else {
            log.debug("Offsets were not committed; said again later, or by the new owner of the partitions", failure);
            moved.keySet().forEach(PartitionOffsets::refused);
        }
    }

    /** Whether the group has taken this consumer in. */
    boolean hasJoined() {
        return joined;
    }

    /** Gives up everything, without a word to the group. */
    void drop() {
        onPartitionsLost(List.copyOf(partitions.keySet()));
        joined = false;
    }

    List<PartitionStatus> status() {
        return partitions.values().stream().map(PartitionOffsets::status).toList();
    }
}
