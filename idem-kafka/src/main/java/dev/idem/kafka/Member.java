package dev.idem.kafka;

import dev.idem.broker.spi.KeyedExecutor;
import java.time.Duration;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A consumer in the group, with the partitions it has. Used by the thread that polls. */
record Member(Consumer<byte[], byte[]> consumer, Assignments assignments) {
    private static final Logger log = LoggerFactory.getLogger(Member.class);
    private static final Duration LEAVE_LIMIT = Duration.ofSeconds(5);

    static Member create(int instance, Plan plan, KeyedExecutor<Taken> lanes, Clients clients) {
        Consumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                plan.config().consumer(instance, plan.instances(), plan.maxPendingBytes()),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
        OffsetGuard guard = new OffsetGuard(plan.inbox().store(), plan.trustOffsets());
        return new Member(
                consumer, new Assignments(consumer, lanes, clients.streams(), guard, plan.drainInRebalance()));
    }

    /** Leaves the group. The client of 4.0 knows no other way to say so. */
    @SuppressWarnings("deprecation")
    void leave() {
        try {
            consumer.close(LEAVE_LIMIT);
        } catch (KafkaException failure) {
            log.debug("Left the group without a word", failure);
        }
    }
}
