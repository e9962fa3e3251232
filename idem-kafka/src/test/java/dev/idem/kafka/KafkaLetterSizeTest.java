package dev.idem.kafka;

import static dev.idem.kafka.KafkaBed.bytes;
import static dev.idem.kafka.KafkaBed.until;
import static dev.idem.kafka.KafkaBed.writer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.TerminalException;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.ListenerState;
import dev.idem.servers.SkipWithoutServer;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Dead letters that are large, or whose topic is gone. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class KafkaLetterSizeTest {
    private static final Random RANDOM = new Random(7);

    @Test
    @DisplayName("KF-14 the topic of dead letters that is created takes the largest records, packed ones too")
    void largestRecords() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            KafkaBed.largest(bed.topic, 3_000_000);
            send(bed, random(2_999_000), "none");
            send(bed, new byte[20_000_000], "gzip");
            bed.send(0, 1);
            bed.listen(writer(message -> {
                if (message.payload().length > 100) {
                    throw new TerminalException("never", null);
                }
            }));
            bed.awaitSettled();
            bed.assertOnce(1);
            assertThat(bed.letters())
                    .extracting(letter -> letter.message().payload().length)
                    .containsExactly(2_999_000, 20_000_000);
        }
    }

    private static void send(KafkaBed bed, byte[] value, String compression) throws Exception {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", KafkaBed.server().address());
        config.put("max.request.size", 30_000_000);
        config.put("buffer.memory", 60_000_000);
        config.put("compression.type", compression);
        try (var producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(bed.topic, bytes("large"), value);
            record.headers().add("ce_id", bytes("large-" + value.length));
            producer.send(record).get();
        }
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        RANDOM.nextBytes(bytes);
        return bytes;
    }

    @Test
    @DisplayName("a letter that is too large is told more briefly, and nothing of the record is left out")
    void shortened() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            KafkaBed.largest(bed.topic, 2_000);
            Map<String, Object> config =
                    Map.of("bootstrap.servers", KafkaBed.server().address());
            byte[] value = random(1_200);
            var record = new ConsumerRecord<>("orders", 3, 17, bytes("key"), value);
            record.headers().add("own", bytes("header"));
            String detail =
                    RANDOM.ints(5_000, 'a', 'z').mapToObj(Character::toString).reduce("", String::concat);
            try (var sender = new DeadLetterSender(new ClientConfig(config).letters())) {
                sender.setAside(
                        record,
                        bed.topic,
                        new DeadLetter(
                                "billing",
                                "FAILED",
                                Optional.of(detail),
                                Optional.of("a.b.C"),
                                2,
                                Instant.now(),
                                true,
                                Map.of()));
            }
            try (var letters = KafkaDeadLetters.open(config, bed.topic)) {
                assertThat(letters.next()).hasValueSatisfying(letter -> {
                    assertThat(letter.message().payload()).isEqualTo(value);
                    assertThat(letter.message().header("own")).contains("header");
                    assertThat(letter.about().detail()).isEmpty();
                    assertThat(letter.about().attempts()).isEqualTo(2);
                    assertThat(letter.about().replayForbidden()).isTrue();
                    assertThat(letter.about().origin())
                            .containsEntry("topic", "orders")
                            .containsEntry("offset", "17");
                });
            }
        }
    }

    @Test
    @DisplayName(
            "KF-14 while the topic of dead letters is gone, other keys of the same lane go on; then letters follow")
    void topicOfLettersGone() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            String deadLetters = bed.topic + ".dead-letters";
            KafkaInboxListener listener = bed.listen(writer(message -> {
                if (message.orderingKey().orElseThrow().startsWith("bad")) {
                    throw new TerminalException("never", null);
                }
            }));
            until("it runs", () -> listener.state() == ListenerState.RUNNING);
            KafkaBed.admin().deleteTopics(List.of(deadLetters)).all().get();
            for (int i = 0; i < 5; i++) {
                KafkaBed.send(bed.record("bad" + i, "bad" + i));
                bed.send(i * 40, i * 40 + 40);
            }
            bed.awaitEffects(200);
            // Before the producer gives up, it only says that nothing is confirmed.
            until(
                    "it names the topic",
                    () -> listener.waiting().stream()
                            .anyMatch(waiting -> waiting.why().contains(deadLetters)));
            assertThat(listener.state()).isEqualTo(ListenerState.WAITING);
            assertThat(listener.waiting().orElseThrow().what()).isEqualTo("the place of dead letters");
            assertThat(listener.pending()).isEqualTo(5);
            KafkaBed.createTopic(deadLetters, 1);
            bed.awaitSettled();
            assertThat(bed.letters()).hasSize(5);
            bed.assertOnce(200);
            until("it runs again", () -> listener.state() == ListenerState.RUNNING);
        }
    }

    @Test
    @DisplayName("KF-14 a topic of dead letters that is gone, and that nobody makes again, is made again after a while")
    void topicOfLettersMadeAgain() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            String deadLetters = bed.topic + ".dead-letters";
            KafkaBed.largest(bed.topic, 2_000_000);
            KafkaInboxListener listener = bed.listen(writer(message -> {
                if (message.orderingKey().orElseThrow().startsWith("bad")) {
                    throw new TerminalException("never", null);
                }
            }));
            KafkaBed.send(bed.record("bad0", "bad0"));
            until("the first letter is there", () -> bed.letters().size() == 1);
            KafkaBed.admin().deleteTopics(List.of(deadLetters)).all().get();
            KafkaBed.send(bed.record("bad1", "bad1"));
            bed.send(0, 20);
            bed.awaitEffects(20);
            bed.awaitSettled();
            assertThat(bed.letters())
                    .extracting(letter -> letter.message().id().orElseThrow())
                    .containsExactly("bad1");
            assertThat(settings(deadLetters))
                    .containsEntry("retention.ms", "-1")
                    .containsEntry("max.message.bytes", Integer.toString(2_000_000 + (32 << 10)));
            bed.assertOnce(20);
            until("it runs again", () -> listener.state() == ListenerState.RUNNING);
        }
    }

    private static Map<String, String> settings(String topic) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Map<String, String> settings = new HashMap<>();
        KafkaBed.admin()
                .describeConfigs(List.of(resource))
                .all()
                .get()
                .get(resource)
                .entries()
                .forEach(entry -> settings.put(entry.name(), entry.value()));
        return settings;
    }
}
