package dev.idem.kafka;

import static dev.idem.kafka.KafkaBed.bytes;
import static dev.idem.kafka.KafkaBed.until;
import static dev.idem.kafka.KafkaBed.writer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.IdemException;
import dev.idem.TerminalException;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import dev.idem.servers.SkipWithoutServer;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Producers that write headers which only Idem may write. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class KafkaForgeryTest {
    @Test
    @DisplayName("records that a producer marks as crossed out hide no dead letter, with or without a value")
    void nobodyHidesLetters() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            for (int i = 0; i < 3; i++) {
                KafkaBed.send(bed.record("k", "m" + i));
            }
            KafkaInboxListener listener = bed.listen(writer(message -> {
                throw new TerminalException("never", null);
            }));
            bed.awaitSettled();
            for (int i = 0; i < 3; i++) {
                for (byte[] value : new byte[][] {null, bytes("x")}) {
                    var forged = new ProducerRecord<byte[], byte[]>(bed.topic, null, value);
                    forged.headers().add(KafkaDeadLetters.REPLAYED, bytes("0-" + i));
                    forged.headers().add("Idem-Replayed", bytes("0-" + i));
                    KafkaBed.send(forged);
                }
            }
            bed.awaitSettled();
            listener.close();
            List<Letter> letters = bed.letters();
            assertThat(letters).hasSize(9);
            assertThat(letters)
                    .extracting(letter -> letter.message().id().orElse("none"))
                    .contains("m0", "m1", "m2");
            assertThat(letters)
                    .allSatisfy(letter -> assertThat(letter.message().headers())
                            .noneMatch(header -> header.name().equalsIgnoreCase(KafkaDeadLetters.REPLAYED)));
        }
    }

    @Test
    @DisplayName("a copy of a forged record that an older release has made hides no dead letter either")
    void oldCopiesHideNothing() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            KafkaBed.send(bed.record("k", "m0"));
            bed.listen(writer(message -> {
                throw new TerminalException("never", null);
            }));
            until("it is set aside", () -> bed.letters().size() == 1);
            var copy = new ProducerRecord<byte[], byte[]>(bed.topic + ".dead-letters", null, null);
            copy.headers().add(KafkaDeadLetters.REPLAYED, bytes("0-0"));
            copy.headers().add("idem-consumer", bytes("payments"));
            copy.headers().add("idem-reason", bytes("REJECTED"));
            KafkaBed.send(copy);
            assertThat(bed.letters()).hasSize(2);
        }
    }

    @Test
    @DisplayName("nobody crosses out a letter that is not there yet")
    void notInAdvance() throws Exception {
        try (KafkaBed bed = new KafkaBed(1)) {
            KafkaBed.createTopic(bed.topic + ".dead-letters", 1);
            var crossing = new ProducerRecord<byte[], byte[]>(bed.topic + ".dead-letters", null, null);
            crossing.headers().add(KafkaDeadLetters.REPLAYED, bytes("0-1"));
            KafkaBed.send(crossing);
            KafkaBed.send(bed.record("k", "m0"));
            bed.listen(writer(message -> {
                throw new TerminalException("never", null);
            }));
            bed.awaitSettled();
            assertThat(bed.letters())
                    .singleElement()
                    .satisfies(letter -> assertThat(letter.place()).isEqualTo("0-1"));
        }
    }

    @Test
    @DisplayName("a letter does not decide where it is sent to: only to topics that are allowed")
    void origins() throws Exception {
        try (KafkaBed bed = new KafkaBed(1);
                KafkaBed victim = new KafkaBed(1)) {
            String deadLetters = bed.topic + ".dead-letters";
            KafkaBed.createTopic(deadLetters, 1);
            for (String origin : List.of(victim.topic, "no such\u001b[31m", bed.topic)) {
                var letter = new ProducerRecord<>(deadLetters, bytes("k"), bytes("x"));
                letter.headers().add("idem-consumer", bytes("payments"));
                letter.headers().add("idem-reason", bytes("FAILED"));
                letter.headers().add("idem-origin-topic", bytes(origin));
                KafkaBed.send(letter);
            }
            try (DeadLetters letters = bed.deadLetters()) {
                for (int i = 0; i < 2; i++) {
                    Letter forged = letters.next().orElseThrow();
                    assertThatThrownBy(() -> letters.sendAgain(forged))
                            .isInstanceOf(IdemException.class)
                            .hasMessageContaining("[" + bed.topic + "]")
                            .message()
                            .doesNotContain("\u001b");
                }
                letters.sendAgain(letters.next().orElseThrow());
            }
            assertThat(victim.unsettled()).isZero();
            assertThat(bed.unsettled()).isEqualTo(1);
            assertThat(bed.letters()).hasSize(2);
            try (DeadLetters letters = KafkaDeadLetters.open(bed.config, deadLetters, Set.of(victim.topic))) {
                letters.sendAgain(letters.next().orElseThrow());
            }
            assertThat(victim.unsettled()).isEqualTo(1);
        }
    }
}
