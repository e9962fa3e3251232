package dev.idem.kafka;

import static dev.idem.kafka.KafkaBed.until;
import static dev.idem.kafka.KafkaBed.writer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.broker.ListenerState;
import dev.idem.servers.SkipWithoutServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Members that come, go, are slow, or are taken for dead. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class KafkaGroupTest {
    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("KF-01 members come and go under load: each effect once, and everything is settled")
    void membersComeAndGo(String protocol) throws Exception {
        AtomicInteger runs = new AtomicInteger();
        try (KafkaBed bed = new KafkaBed(4)) {
            if (protocol.equals("consumer")) {
                bed.config.remove("heartbeat.interval.ms");
                bed.config.put("group.protocol", protocol);
            }
            var consumer = writer(message -> {
                runs.incrementAndGet();
                Thread.sleep(1);
            });
            bed.send(0, 500);
            KafkaInboxListener first = bed.listen(consumer, builder -> builder.parallelism(2));
            bed.awaitEffects(50);
            KafkaInboxListener second = bed.listen(consumer, builder -> builder.instances(2));
            until("the second has partitions", () -> !second.partitions().isEmpty());
            bed.send(500, 1_000);
            bed.awaitEffects(300);
            first.close();
            bed.listen(consumer);
            bed.awaitEffects(600);
            second.close();
            bed.awaitEffects(1_000);
            bed.awaitSettled();
            bed.assertOnce(1_000);
            // Partitions were handed over with everything finished, so hardly anything was begun twice.
            assertThat(runs.get()).isBetween(1_000, 1_010);
        }
    }

    @Test
    @DisplayName("KF-02 KF-18 a handler that takes longer than max.poll.interval.ms does not cost the membership")
    void slowHandler() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        try (KafkaBed bed = new KafkaBed(1)) {
            bed.config.put("max.poll.interval.ms", "2000");
            bed.config.put("session.timeout.ms", "1500");
            KafkaInboxListener listener = bed.listen(
                    writer(message -> {
                        if (runs.incrementAndGet() == 1) {
                            Thread.sleep(5_000);
                        }
                    }),
                    builder -> builder.maxPending(1));
            until("it has joined", () -> listener.state() == ListenerState.RUNNING);
            List<String> before = members(bed);
            bed.send(0, 20);
            bed.awaitEffects(20);
            bed.awaitSettled();
            assertThat(members(bed)).hasSize(1).isEqualTo(before);
            assertThat(runs).hasValue(20);
        }
    }

    private static List<String> members(KafkaBed bed) throws Exception {
        return KafkaBed.admin()
                .describeConsumerGroups(List.of(bed.group))
                .describedGroups()
                .get(bed.group)
                .get()
                .members()
                .stream()
                .map(MemberDescription::consumerId)
                .toList();
    }

    @Test
    @DisplayName("KF-02 KF-03 one that was taken for dead and comes back late: each effect once, and it goes on")
    void zombie() throws Exception {
        Frozen.thaw = new CountDownLatch(1);
        Frozen.frozen = new CountDownLatch(1);
        try (KafkaBed bed = new KafkaBed(1)) {
            bed.config.put("max.poll.interval.ms", "2000");
            bed.config.put("session.timeout.ms", "1500");
            bed.config.put("interceptor.classes", Frozen.class.getName());
            KafkaInboxListener zombie = bed.listen(writer(message -> {}));
            until("it has joined", () -> zombie.state() == ListenerState.RUNNING);
            bed.send(0, 50);
            Frozen.frozen.await();
            bed.config.remove("interceptor.classes");
            KafkaInboxListener heir = bed.listen(writer(message -> {}));
            bed.awaitEffects(50);
            bed.awaitSettled();
            Frozen.thaw.countDown();
            bed.send(50, 100);
            bed.awaitEffects(100);
            bed.awaitSettled();
            heir.close();
            bed.send(100, 120);
            bed.awaitEffects(120);
            bed.awaitSettled();
            bed.assertOnce(120);
            assertThat(zombie.state()).isEqualTo(ListenerState.RUNNING);
        }
    }

    /** Holds the thread that polls, as a long pause of the process would, when it has records in its hands. */
    public static final class Frozen implements ConsumerInterceptor<byte[], byte[]> {
        static volatile CountDownLatch thaw;
        static volatile CountDownLatch frozen;

        @Override
        public ConsumerRecords<byte[], byte[]> onConsume(ConsumerRecords<byte[], byte[]> records) {
            frozen.countDown();
            try {
                thaw.await();
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
            return records;
        }

        @Override
        public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {}

        @Override
        public void configure(Map<String, ?> config) {}

        @Override
        public void close() {}
    }

    @Test
    @DisplayName("KF-01 a partition is handed over only when what was begun has ended")
    void drains() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        AtomicInteger runs = new AtomicInteger();
        try (KafkaBed bed = new KafkaBed(1)) {
            bed.send(0, 1);
            var slow = writer(message -> {
                runs.incrementAndGet();
                begun.countDown();
                Thread.sleep(2_000);
            });
            KafkaInboxListener first = bed.listen(slow);
            begun.await();
            bed.listen(slow);
            first.close(Duration.ofSeconds(20));
            bed.awaitSettled();
            bed.assertOnce(1);
            assertThat(runs).hasValue(1);
        }
    }

    @Test
    @DisplayName("an instance id that another member still has is waited for, and then taken over")
    void unreleasedInstanceId() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            bed.config.remove("heartbeat.interval.ms");
            bed.config.put("group.protocol", "consumer");
            bed.config.put("group.instance.id", "one");
            bed.send(0, 10);
            KafkaInboxListener listener;
            try (var holder =
                    new KafkaConsumer<>(bed.config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
                holder.subscribe(List.of(bed.topic));
                until("it has joined", () -> {
                    holder.poll(Duration.ofMillis(100));
                    return !holder.assignment().isEmpty();
                });
                listener = bed.listen(writer(message -> {}));
                until("it waits", () -> listener.state() == ListenerState.WAITING);
                assertThat(listener.waiting()).hasValueSatisfying(waiting -> {
                    assertThat(waiting.what()).isEqualTo("group.instance.id one");
                    assertThat(waiting.why()).contains("UnreleasedInstanceId");
                });
            }
            bed.awaitEffects(10);
            bed.awaitSettled();
            until("it runs", () -> listener.state() == ListenerState.RUNNING);
            bed.assertOnce(10);
        }
    }

    @Test
    @DisplayName("a paused listener takes nothing, finishes what it has, and keeps its partitions")
    void pauseAndResume() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (KafkaBed bed = new KafkaBed(2)) {
            bed.send(0, 10);
            KafkaInboxListener listener = bed.listen(writer(message -> go.await()));
            until("all are here", () -> listener.pending() == 10);
            assertThat(listener.pendingBytes()).isPositive();
            listener.pause();
            assertThat(listener.state()).isEqualTo(ListenerState.PAUSED);
            List<String> before = members(bed);
            bed.send(10, 20);
            go.countDown();
            bed.awaitEffects(10);
            until("they are settled", () -> bed.unsettled() == 10);
            assertThat(listener.pending()).isZero();
            until("it knows how much waits", () -> listener.lag().orElse(-1) == 10);
            assertThat(listener.partitions()).hasSize(2);
            listener.resume();
            bed.awaitEffects(20);
            bed.awaitSettled();
            assertThat(members(bed)).isEqualTo(before);
            until("there is nothing more", () -> listener.lag().orElse(-1) == 0);
            bed.assertOnce(20);
        }
    }
}
