package dev.idem.kafka;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Which records of a partition are unfinished. What may be committed is the first of them, or, when there is none, the
 * consumer's own position: so gaps between offsets do not matter, and whatever a crash interrupts is delivered again.
 *
 * <p>Belongs to one assignment. When the partition is taken away it is dropped, and who still finishes a record of it
 * changes nothing any more. Thread-safe.
 */
final class PartitionOffsets {
    private static final long NONE = -1;

    private final TopicPartition partition;
    private final TreeSet<Long> unfinished = new TreeSet<>();
    private long position = NONE;
    private long requested = NONE;
    private long committed = NONE;
    private long lag = NONE;
    private @Nullable String stream;
    private boolean dropped;

    PartitionOffsets(TopicPartition partition) {
        this.partition = partition;
    }

    TopicPartition partition() {
        return partition;
    }

    /** Its committed offset was compared with the store, and with this name of the topic. */
    synchronized void admit(String name) {
        stream = name;
    }

    synchronized boolean isAdmitted() {
        return stream != null;
    }

    /** What the topic was called when this was admitted. */
    synchronized Optional<String> stream() {
        return Optional.ofNullable(stream);
    }

    synchronized void begin(long offset) {
        unfinished.add(offset);
        position = Math.max(position, offset + 1);
    }

    synchronized void finish(long offset) {
        unfinished.remove(offset);
    }

    /** The partition is somebody else's now. */
    synchronized void drop() {
        dropped = true;
    }

    /** Whether what becomes of its records is somebody else's to say. */
    synchronized boolean isDropped() {
        return dropped;
    }

    /** The next record that the consumer will fetch; everything known before it was begun. */
    synchronized void moveTo(long next) {
        position = next;
    }

    /** Whether nothing of it was seen yet. */
    synchronized boolean isNew() {
        return position == NONE;
    }

    /** Whether a record at this offset cannot follow those before: the topic is another one, or was cut. */
    synchronized boolean isBehind(long offset) {
        return offset < position;
    }

    /** What is to be committed, if it is something new. Taken as committed until {@link #refused}. */
    synchronized OptionalLong takeMoved() {
        long now = unfinished.isEmpty() ? position : unfinished.first();
        if (now == NONE || now == requested) {
            return OptionalLong.empty();
        }
        requested = now;
        return OptionalLong.of(now);
    }

    synchronized void accepted(long offset) {
        committed = offset;
    }

    synchronized void refused() {
        requested = NONE;
    }

    synchronized void lag(OptionalLong records) {
        lag = records.orElse(NONE);
    }

    /** The end of the partition, where nothing is fetched that would tell the lag. */
    synchronized void end(long offset) {
        lag = position == NONE ? NONE : Math.max(0, offset - position);
    }

    synchronized PartitionStatus status() {
        return new PartitionStatus(
                partition.topic(), partition.partition(), known(lag), unfinished.size(), known(committed));
    }

    private static OptionalLong known(long value) {
        return value == NONE ? OptionalLong.empty() : OptionalLong.of(value);
    }
}
