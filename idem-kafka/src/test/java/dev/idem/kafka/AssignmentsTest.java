package dev.idem.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.RetryPolicy;
import dev.idem.broker.spi.KeyedExecutor;
import dev.idem.test.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is committed for a partition, and when. */
@Tag("quick")
class AssignmentsTest {
    private static final TopicPartition PARTITION = new TopicPartition("orders", 0);

    @Test
    @DisplayName("KF-03 for lost partitions nothing is committed; for revoked ones what is finished")
    void lostAndRevoked() {
        for (boolean lost : List.of(true, false)) {
            var consumer = new MockConsumer<byte[], byte[]>("earliest");
            Assignments assignments = assignments(consumer);
            consumer.subscribe(List.of("orders"), assignments);
            consumer.rebalance(List.of(PARTITION));
            PartitionOffsets offsets = assignments.of(PARTITION, 0);
            offsets.begin(0);
            offsets.begin(1);
            offsets.finish(0);
            if (lost) {
                assignments.onPartitionsLost(List.of(PARTITION));
            } else {
                assignments.onPartitionsRevoked(List.of(PARTITION));
            }
            assertThat(consumer.committed(Set.of(PARTITION)).get(PARTITION) == null)
                    .isEqualTo(lost);
            offsets.finish(1); // by one who has not heard of it
            assignments.commitAll();
            assertThat(assignments.status()).isEmpty();
            if (!lost) {
                assertThat(consumer.committed(Set.of(PARTITION)).get(PARTITION).offset())
                        .isEqualTo(1);
            }
        }
    }

    @Test
    @DisplayName("KF-11 offsets that go back without a rebalance begin the partition anew")
    void offsetsGoBack() {
        var consumer = new MockConsumer<byte[], byte[]>("earliest");
        Assignments assignments = assignments(consumer);
        consumer.subscribe(List.of("orders"), assignments);
        consumer.rebalance(List.of(PARTITION));
        PartitionOffsets old = assignments.of(PARTITION, 50);
        old.begin(50);
        assertThat(assignments.of(PARTITION, 51)).isSameAs(old);
        PartitionOffsets anew = assignments.of(PARTITION, 3);
        assertThat(anew).isNotSameAs(old);
        assertThat(anew.isNew()).isTrue();
        assertThat(anew.status().unfinished()).isZero();
    }

    private static Assignments assignments(MockConsumer<byte[], byte[]> consumer) {
        KeyedExecutor<Taken> lanes = KeyedExecutor.start(
                new KeyedExecutor.Options(
                        "test",
                        1,
                        RetryPolicy.fixed(Duration.ZERO),
                        work -> {
                            Thread thread = new Thread(work);
                            thread.setDaemon(true);
                            return thread;
                        },
                        100,
                        100_000),
                Inbox.create(new MemoryStore()),
                Consumer.of("billing"),
                null);
        Admin nobody = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:1"));
        return new Assignments(
                consumer,
                lanes,
                new Streams(nobody, List.of("orders"), Duration.ofMillis(1), new Waits("test")),
                new OffsetGuard(new MemoryStore(), false),
                Duration.ofSeconds(1));
    }

    @Test
    @DisplayName("KF-04 KF-10 in whatever order records end, with whatever gaps, nothing unfinished is passed over")
    void randomCompletion() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            PartitionOffsets offsets = new PartitionOffsets(PARTITION);
            List<Long> all = new ArrayList<>();
            long next = random.nextInt(100);
            for (int i = 0; i < 30; i++) {
                all.add(next);
                offsets.begin(next);
                next += 1 + random.nextInt(3);
            }
            offsets.moveTo(next);
            TreeSet<Long> unfinished = new TreeSet<>(all);
            Collections.shuffle(all, random);
            long committed = -1;
            for (long done : all) {
                offsets.finish(done);
                unfinished.remove(done);
                OptionalLong moved = offsets.takeMoved();
                committed = moved.orElse(committed);
                assertThat(committed)
                        .as("seed %s", seed)
                        .isEqualTo(unfinished.isEmpty() ? next : (long) unfinished.first());
            }
        }
    }
}
