package dev.idem.kafka;

import static dev.idem.kafka.KafkaBed.until;
import static dev.idem.kafka.KafkaBed.writer;
import static dev.idem.kafka.KafkaBed.writes;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.RetryPolicy;
import dev.idem.broker.ListenerState;
import dev.idem.queue.QueuePolicy;
import dev.idem.servers.SkipWithoutServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What only Kafka does to a consumer: offsets, transactions, topics that come again. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class KafkaInboxListenerTest {
    private static final RetryPolicy QUICK =
            RetryPolicy.fixed(Duration.ofMillis(20)).withMaxAttempts(5);

    @Test
    @DisplayName("KF-04 records done behind an unfinished one do not move the offset, and a new owner does the rest")
    void unfinished() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        try (KafkaBed bed = new KafkaBed(1)) {
            for (int i = 0; i < 100; i++) {
                KafkaBed.send(bed.record("k" + i, "m" + i));
            }
            KafkaInboxListener first = bed.listen(
                    writer(message -> {
                        if (message.id().orElseThrow().equals("m5")) {
                            never.await();
                        }
                    }),
                    builder -> builder.parallelism(4));
            until("the other lanes are done", () -> done(first) > 20);
            Thread.sleep(500); // for several commits
            assertThat(bed.committed().getOrDefault(new TopicPartition(bed.topic, 0), 0L))
                    .isLessThanOrEqualTo(5);
            first.close(Duration.ZERO);
            bed.listen(writer(message -> {}), builder -> builder.parallelism(4));
            bed.awaitEffects(100);
            bed.awaitSettled();
            bed.assertOnce(100);
        }
    }

    private static long done(KafkaInboxListener listener) {
        return listener.partitions().stream()
                .mapToLong(partition -> 100 - partition.unfinished())
                .sum();
    }

    @Test
    @DisplayName("KF-06 a record that failed keeps its offset while later ones are done, and is done by the next owner")
    void failedRecord() throws Exception {
        AtomicBoolean broken = new AtomicBoolean(true);
        try (KafkaBed bed = new KafkaBed(1)) {
            for (int i = 0; i < 10; i++) {
                KafkaBed.send(bed.record("k" + i, "m" + i));
            }
            var consumer = writer(message -> {
                if (broken.get() && message.id().orElseThrow().equals("m3")) {
                    throw new IllegalStateException("not yet");
                }
            });
            KafkaInboxListener first =
                    bed.listen(consumer, builder -> builder.retry(RetryPolicy.fixed(Duration.ofHours(1))));
            bed.awaitEffects(9);
            first.close();
            assertThat(bed.committed()).containsEntry(new TopicPartition(bed.topic, 0), 3L);
            broken.set(false);
            bed.listen(consumer);
            bed.awaitEffects(10);
            bed.awaitSettled();
            bed.assertOnce(10);
        }
    }

    @Test
    @DisplayName(
            "KF-07 a transaction that the database refuses at its commit keeps its offset, and is done when it can be")
    void refusedCommit() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            bed.execute("CREATE TABLE refusing (since int)");
            bed.execute("INSERT INTO refusing VALUES (1)");
            bed.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                    + " IF NEW.id = 'm3' AND EXISTS (SELECT 1 FROM refusing) THEN RAISE EXCEPTION 'not now'; END IF;"
                    + " RETURN NULL; END $$");
            bed.execute("CREATE CONSTRAINT TRIGGER late AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED"
                    + " FOR EACH ROW EXECUTE FUNCTION refuse()");
            for (int i = 0; i < 10; i++) {
                KafkaBed.send(bed.record("k" + i, "m" + i));
            }
            RetryPolicy patient = RetryPolicy.fixed(Duration.ofMillis(50)).withMaxAttempts(10_000);
            bed.listen(writer(message -> {}), builder -> builder.retry(patient));
            bed.awaitEffects(9);
            Thread.sleep(500); // for several commits of offsets
            assertThat(bed.committed().getOrDefault(new TopicPartition(bed.topic, 0), 0L))
                    .isLessThanOrEqualTo(3);
            bed.execute("DELETE FROM refusing");
            bed.awaitEffects(10);
            bed.awaitSettled();
            bed.assertOnce(10);
        }
    }

    @Test
    @DisplayName("KF-10 KF-15 aborted transactions have no effect, and their gaps hold up no offset")
    void transactions() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            Map<String, Object> config = new HashMap<>();
            config.put("bootstrap.servers", KafkaBed.server().address());
            config.put("transactional.id", bed.topic);
            KafkaInboxListener listener = bed.listen(writer(message -> {}));
            try (var producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
                producer.initTransactions();
                for (int round = 0; round < 6; round++) {
                    producer.beginTransaction();
                    for (int i = 0; i < 5; i++) {
                        producer.send(bed.record("k", (round % 2 == 0 ? "m" : "aborted") + round + "-" + i));
                    }
                    producer.flush();
                    if (round % 2 == 0) {
                        producer.commitTransaction();
                    } else {
                        producer.abortTransaction();
                    }
                }
            }
            bed.awaitEffects(15);
            bed.awaitSettled(); // the last records are aborted ones and a marker
            bed.assertOnce(15);
            assertThat(bed.effects()).noneMatch(id -> id.startsWith("aborted"));
            assertThat(listener.partitions()).singleElement().satisfies(status -> {
                assertThat(status.unfinished()).isZero();
                assertThat(status.committed()).hasValue(36);
            });
        }
    }

    @Test
    @DisplayName("KF-11 a topic that is deleted and made again, under a listener that keeps marks: all is new")
    void recreatedTopic() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            bed.send(0, 30);
            KafkaInboxListener listener =
                    bed.listen(writes(message -> {}).watermark().build());
            bed.awaitEffects(30);
            bed.awaitSettled();
            bed.remakeTopic();
            bed.send(100, 110);
            bed.awaitEffects(40);
            bed.awaitSettled();
            listener.close();
            bed.remakeTopic();
            bed.send(200, 210);
            bed.listen(writes(message -> {}).watermark().build());
            bed.awaitEffects(50);
            bed.awaitSettled();
            bed.assertOnce(50);
        }
    }

    @Test
    @DisplayName("KF-17 offsets that are gone: all is delivered again from the beginning, and recognised")
    void lostOffsets() throws Exception {
        try (KafkaBed bed = new KafkaBed(2)) {
            bed.send(0, 50);
            KafkaInboxListener first = bed.listen(writer(message -> {}));
            bed.awaitEffects(50);
            bed.awaitSettled();
            first.close();
            KafkaBed.admin()
                    .deleteConsumerGroupOffsets(
                            bed.group, Set.of(new TopicPartition(bed.topic, 0), new TopicPartition(bed.topic, 1)))
                    .all()
                    .get();
            assertThat(bed.unsettled()).isEqualTo(50);
            bed.listen(writer(message -> {}));
            bed.awaitSettled();
            bed.assertOnce(50);
        }
    }

    @Test
    @DisplayName("a consumer with marks, several partitions and failures in between: each effect once and in order")
    void watermark() throws Exception {
        Random random = new Random(7);
        try (KafkaBed bed = new KafkaBed(3)) {
            bed.send(0, 300);
            var consumer = writes(message -> {
                        if (random.nextInt(20) == 0) {
                            throw new IllegalStateException("now and then");
                        }
                    })
                    .watermark()
                    .build();
            KafkaInboxListener first =
                    bed.listen(consumer, builder -> builder.retry(QUICK).parallelism(2));
            bed.awaitEffects(100);
            first.close();
            bed.listen(consumer, builder -> builder.retry(QUICK).parallelism(2));
            bed.awaitEffects(300);
            bed.awaitSettled();
            bed.assertOnce(300);
            assertOrderedByKey(bed.effects());
        }
    }

    @Test
    @DisplayName("RO-01 a consumer with marks goes on behind a record that was set aside, here and in the next owner")
    void watermarkPoison() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            var consumer = writes(message -> {
                        if (message.id().orElseThrow().endsWith("7")) {
                            throw new IllegalStateException("never");
                        }
                    })
                    .watermark()
                    .build();
            bed.send(0, 30);
            KafkaInboxListener first = bed.listen(consumer, builder -> builder.retry(QUICK));
            bed.awaitEffects(27);
            bed.awaitSettled();
            first.close();
            bed.listen(consumer, builder -> builder.retry(QUICK));
            bed.send(30, 60);
            bed.awaitEffects(54);
            bed.awaitSettled();
            bed.assertOnce(54);
            assertThat(bed.letters()).hasSize(6);
        }
    }

    @Test
    @DisplayName("a queued consumer: acknowledged on receipt, handled by workers")
    void queued() throws Exception {
        try (KafkaBed bed = new KafkaBed(2)) {
            bed.send(0, 100);
            CountDownLatch go = new CountDownLatch(1);
            var consumer = writes(message -> go.await())
                    .queued(QueuePolicy.inTransaction().withPoll(Duration.ofMillis(100)))
                    .build();
            var inbox = bed.inbox();
            inbox.start(consumer);
            try (KafkaInboxListener listener = KafkaInbox.listen(bed.config, List.of(bed.topic), consumer, inbox)) {
                bed.awaitSettled();
                assertThat(bed.effects()).isEmpty();
                go.countDown();
                bed.awaitEffects(100);
                bed.assertOnce(100);
                assertThat(listener.state()).isEqualTo(ListenerState.RUNNING);
            }
        }
    }

    @Test
    @DisplayName("KF-13 with four lanes and failures, the order of each key is kept")
    void orderPerKey() throws Exception {
        Set<String> failed = ConcurrentHashMap.newKeySet();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger now = new AtomicInteger();
        try (KafkaBed bed = new KafkaBed(2)) {
            bed.send(0, 400);
            bed.listen(
                    writer(message -> {
                        most.accumulateAndGet(now.incrementAndGet(), Math::max);
                        try {
                            Thread.sleep(1);
                            String id = message.id().orElseThrow();
                            if (id.endsWith("7") && failed.add(id)) {
                                throw new IllegalStateException("the first time");
                            }
                        } finally {
                            now.decrementAndGet();
                        }
                    }),
                    builder -> builder.parallelism(4).retry(QUICK));
            bed.awaitEffects(400);
            bed.awaitSettled();
            bed.assertOnce(400);
            assertOrderedByKey(bed.effects());
            assertThat(most.get()).isGreaterThan(1);
        }
    }

    /** Message i has key i modulo 10. */
    private static void assertOrderedByKey(List<String> effects) {
        Map<Integer, List<Integer>> byKey = new HashMap<>();
        for (String id : effects) {
            int number = Integer.parseInt(id.substring(1));
            byKey.computeIfAbsent(number % 10, key -> new ArrayList<>()).add(number);
        }
        assertThat(byKey.values())
                .hasSize(10)
                .allSatisfy(numbers -> assertThat(numbers).isSorted());
    }

    @Test
    void aHandlerCanCloseItsListener() throws Exception {
        AtomicReference<KafkaInboxListener> listener = new AtomicReference<>();
        CountDownLatch known = new CountDownLatch(1);
        try (KafkaBed bed = new KafkaBed(1)) {
            bed.send(0, 5);
            listener.set(bed.listen(writer(message -> {
                known.await();
                listener.get().close();
            })));
            known.countDown();
            until("it is closed", () -> listener.get().state() == ListenerState.CLOSED);
            listener.get().close();
            int done = bed.effects().size();
            assertThat(done).isPositive();
            assertThat(bed.unsettled()).isEqualTo(5L - done);
        }
    }

    @Test
    void whatWaitingDoesNotCureEndsTheListenerAndItCanBeRestarted() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            bed.config.put("auto.offset.reset", "none");
            KafkaInboxListener listener = bed.listen(writer(message -> {}));
            until("it has failed", () -> listener.state() == ListenerState.FAILED);
            assertThat(listener.failure()).isPresent();
            bed.send(0, 3);
            Map<TopicPartition, OffsetAndMetadata> start =
                    Map.of(new TopicPartition(bed.topic, 0), new OffsetAndMetadata(0));
            KafkaBed.admin().alterConsumerGroupOffsets(bed.group, start).all().get();
            listener.restart();
            bed.awaitEffects(3);
            bed.awaitSettled();
            assertThat(listener.failure()).isEmpty();
            listener.close();
            assertThat(listener.state()).isEqualTo(ListenerState.CLOSED);
        }
    }
}
