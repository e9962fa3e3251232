package dev.idem.kafka;

import static dev.idem.kafka.KafkaBed.bytes;
import static dev.idem.kafka.KafkaBed.until;
import static dev.idem.kafka.KafkaBed.writer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Message;
import dev.idem.TerminalException;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import dev.idem.broker.ListenerState;
import dev.idem.servers.SkipWithoutServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Records that are not what one hopes for, and what is set aside of them. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class KafkaLettersTest {
    @Test
    @DisplayName("KF-08 random bytes: each record is set aside byte for byte, and comes back the same when sent again")
    void randomBytes() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (KafkaBed bed = new KafkaBed(2)) {
            List<String> sent = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                var record =
                        new ProducerRecord<>(bed.topic, i % 2, 1_000_000L + i, random(random, 20), random(random, 200));
                for (int h = 0; h < random.nextInt(4); h++) {
                    record.headers().add("h" + random.nextInt(2), random(random, 10));
                }
                KafkaBed.send(record);
                sent.add(shape(record.timestamp(), record.key(), record.value(), record.headers()));
            }
            KafkaInboxListener listener = bed.listen(writer(message -> {
                throw new TerminalException("also tombstones, which are known by their place", null);
            }));
            bed.awaitSettled();
            listener.close();
            assertThat(read(bed.topic + ".dead-letters", 1, 40))
                    .as("seed %s", seed)
                    .containsExactlyInAnyOrderElementsOf(sent);
            try (DeadLetters letters = bed.deadLetters()) {
                assertThat(letters.size()).contains(40L);
                List<Letter> all = new ArrayList<>();
                for (var next = letters.next(); next.isPresent(); next = letters.next()) {
                    all.add(next.get());
                }
                all.forEach(letters::sendAgain); // not in the order in which they were read
            }
            assertThat(bed.letters()).isEmpty();
            assertThat(read(bed.topic, 2, 80).subList(0, 80))
                    .containsAll(sent)
                    .allSatisfy(shape -> assertThat(sent).contains(shape));
        }
    }

    private static byte[] random(Random random, int longest) {
        if (random.nextInt(10) == 0) {
            return null;
        }
        byte[] bytes = new byte[random.nextInt(longest)];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Everything of a record that is not ours. */
    private static String shape(long time, byte[] key, byte[] value, Iterable<Header> headers) {
        StringBuilder text = new StringBuilder(time + " " + Arrays.toString(key) + Arrays.toString(value));
        for (Header header : headers) {
            text.append(DeadLetter.isOurs(header.key()) ? "" : header.key() + Arrays.toString(header.value()));
        }
        return text.toString();
    }

    private static List<String> read(String topic, int partitions, int count) throws Exception {
        List<String> shapes = new ArrayList<>();
        try (var consumer = new KafkaConsumer<>(
                Map.<String, Object>of("bootstrap.servers", KafkaBed.server().address()),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            List<TopicPartition> all = new ArrayList<>();
            for (int i = 0; i < partitions; i++) {
                all.add(new TopicPartition(topic, i));
            }
            consumer.assign(all);
            consumer.seekToBeginning(all);
            until(count + " records", () -> {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    shapes.add(shape(record.timestamp(), record.key(), record.value(), record.headers()));
                }
                return shapes.size() >= count;
            });
        }
        return shapes;
    }

    @Test
    @DisplayName(
            "KF-09 tombstones go to the handler marked and empty, or are acknowledged; without an id known by their place")
    void tombstones() throws Exception {
        for (Tombstones policy : Tombstones.values()) {
            Queue<Message> seen = new ConcurrentLinkedQueue<>();
            try (KafkaBed bed = new KafkaBed(1)) {
                var named = new ProducerRecord<byte[], byte[]>(bed.topic, bytes("k"), null);
                named.headers().add("ce_id", bytes("deleted"));
                KafkaBed.send(named);
                KafkaBed.send(new ProducerRecord<>(bed.topic, null, null));
                KafkaBed.send(bed.record("k", "m1"));
                bed.listen(writer(seen::add), builder -> builder.tombstones(policy));
                bed.awaitSettled();
                boolean processed = policy == Tombstones.PROCESS;
                if (processed) {
                    assertThat(bed.effects())
                            .hasSize(3)
                            .contains("deleted", "m1")
                            .anyMatch(id -> id.startsWith("tombstone:" + bed.topic + "-0@1/"));
                } else {
                    assertThat(bed.effects()).containsExactly("m1");
                }
                assertThat(seen.peek().headers(KafkaInbox.TOMBSTONE)).hasSize(processed ? 1 : 0);
                assertThat(bed.letters()).isEmpty();
                if (processed) {
                    assertThat(seen.peek().payload()).isEmpty();
                    assertThat(seen.peek().orderingKey()).contains("k");
                }
            }
        }
    }

    @Test
    @DisplayName("KF-12 an id that stands twice, is not UTF-8 or empty is no id; nothing of it is processed")
    void headers() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            var twice = bed.record("a", "one");
            twice.headers().add("ce_id", bytes("two"));
            KafkaBed.send(twice);
            var malformed = new ProducerRecord<>(bed.topic, bytes("b"), bytes("x"));
            malformed.headers().add("ce_id", new byte[] {(byte) 0xC3, (byte) 0x28});
            KafkaBed.send(malformed);
            var nothing = new ProducerRecord<>(bed.topic, new byte[] {(byte) 0xFF}, bytes("x"));
            nothing.headers().add("ce_id", (byte[]) null);
            KafkaBed.send(nothing);
            KafkaBed.send(bed.record("d", "m1"));
            bed.listen(writer(message -> {}));
            bed.awaitSettled();
            assertThat(bed.effects()).containsExactly("m1");
            assertThat(bed.letters())
                    .hasSize(3)
                    .allSatisfy(letter -> assertThat(letter.about().reason()).isEqualTo("REJECTED"))
                    .extracting(letter -> letter.message().orderingKey().orElseThrow())
                    .containsExactly("a", "b", "hex:ff");
        }
    }

    @Test
    @DisplayName("KF-14 a dead letter that the broker refuses keeps its record; others go on, and it is tried again")
    void refusedLetter() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            String deadLetters = bed.topic + ".dead-letters";
            KafkaBed.createTopic(deadLetters, 1);
            KafkaBed.largest(deadLetters, 100);
            KafkaBed.send(new ProducerRecord<>(bed.topic, bytes("bad"), new byte[1_000]));
            bed.send(0, 20);
            KafkaInboxListener listener = bed.listen(writer(message -> {}));
            bed.awaitEffects(20);
            until(
                    "what is finished is known",
                    () -> listener.partitions().get(0).unfinished() == 1);
            assertThat(bed.unsettled()).isEqualTo(21);
            until("it waits", () -> listener.state() == ListenerState.WAITING);
            assertThat(listener.waiting()).hasValueSatisfying(waiting -> {
                assertThat(waiting.what()).isEqualTo("the place of dead letters");
                assertThat(waiting.why()).contains(deadLetters).contains("max.message.bytes");
            });
            KafkaBed.largest(deadLetters, 100_000);
            bed.awaitSettled();
            assertThat(bed.letters())
                    .singleElement()
                    .satisfies(letter -> assertThat(letter.about().origin())
                            .containsEntry("topic", bed.topic)
                            .containsEntry("offset", "0"));
            bed.assertOnce(20);
        }
    }

    @Test
    void aTopicOfDeadLettersThatCannotBeCreatedIsWaitedForAndTheReasonSaysHow() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            assertThatThrownBy(() -> bed.listen(writer(message -> {}), b -> b.deadLetters("no/such name")))
                    .isInstanceOf(IllegalArgumentException.class);
            String collides = bed.topic + "_dead-letters"; // for the broker's metrics the same name
            KafkaBed.createTopic(collides, 1);
            bed.send(0, 1);
            KafkaInboxListener listener = bed.listen(writer(message -> {}));
            until("it waits", () -> listener.state() == ListenerState.WAITING);
            assertThat(listener.waiting()).hasValueSatisfying(waiting -> {
                assertThat(waiting.what()).isEqualTo("topic " + bed.topic + ".dead-letters");
                assertThat(waiting.why()).contains("kafka-topics.sh").contains("retention.ms=-1");
            });
            KafkaBed.admin().deleteTopics(List.of(collides)).all().get();
            bed.awaitEffects(1);
            until("it runs", () -> listener.state() == ListenerState.RUNNING);
        }
    }
}
