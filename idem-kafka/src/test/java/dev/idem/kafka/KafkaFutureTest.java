package dev.idem.kafka;

import static dev.idem.kafka.KafkaBed.until;
import static dev.idem.kafka.KafkaBed.writes;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.KeySelector;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.Letter;
import dev.idem.broker.ListenerState;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.servers.SkipWithoutServer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Records whose ids say that they were made in the future, where markers are in partitions by day. */
@Timeout(180)
@ExtendWith(SkipWithoutServer.class)
class KafkaFutureTest {
    private static final String LAST = "ffffffff-ffff-7fff-bfff-ffffffffffff";
    private static final Duration DAY = Duration.ofDays(1);

    private final AtomicInteger runs = new AtomicInteger();
    private final Consumer consumer = writes(message -> runs.incrementAndGet())
            .key(KeySelector.messageId().timeOrdered())
            .build();

    private static KafkaBed partitioned() throws Exception {
        KafkaBed bed = new KafkaBed(1);
        JdbcSchema.of(bed.database()).applyPartitioned(7);
        return bed;
    }

    private static UUID first(Instant made) {
        return new UUID(made.toEpochMilli() << 16, 0);
    }

    private static String v7(Instant made) {
        return new UUID(first(made).getMostSignificantBits() | 0x7000, Long.MIN_VALUE | System.nanoTime()).toString();
    }

    @Test
    @DisplayName(
            "PG-29 a record of a time that no wrong clock explains is set aside with the reason, and holds up nobody")
    void farFuture() throws Exception {
        try (KafkaBed bed = partitioned()) {
            String far = v7(Instant.now().plus(DAY.multipliedBy(30)));
            String now = v7(Instant.now());
            for (String id : List.of(far, LAST, now)) {
                KafkaBed.send(bed.record("one-key", id));
            }
            KafkaInboxListener listener = bed.listen(consumer);
            bed.awaitEffects(1);
            bed.awaitSettled();
            assertThat(bed.effects()).containsExactly(now);
            assertThat(runs).hasValue(1);
            List<Letter> letters = bed.letters();
            assertThat(letters)
                    .extracting(letter -> letter.message().id().orElseThrow())
                    .containsExactly(far, LAST);
            assertThat(letters).allSatisfy(letter -> {
                DeadLetter about = letter.about();
                assertThat(about.reason()).isEqualTo("REJECTED");
                assertThat(about.attempts()).isZero();
                assertThat(about.detail().orElseThrow())
                        .startsWith("KEY_FROM_THE_FUTURE")
                        .contains("Is the producer's clock wrong");
            });
            until("it runs", () -> listener.state() == ListenerState.RUNNING);
        }
    }

    @Test
    @DisplayName(
            "PG-29 a record of a day that has no partition yet waits and says why, others go on, and it is done when there is one")
    void noPartitionYet() throws Exception {
        try (KafkaBed bed = partitioned()) {
            Instant made = Instant.now().plus(DAY.multipliedBy(8)).plus(DAY.dividedBy(2));
            String early = v7(made);
            KafkaBed.send(bed.record("early", early));
            KafkaInboxListener listener = bed.listen(consumer);
            until(
                    "it says why",
                    () -> listener.waiting().stream()
                            .anyMatch(waiting -> waiting.why().contains("have no partition for that")));
            assertThat(listener.waiting().orElseThrow().why()).contains(early);
            assertThat(listener.state()).isEqualTo(ListenerState.WAITING);
            for (int i = 0; i < 20; i++) {
                KafkaBed.send(bed.record("k" + i, v7(Instant.now())));
            }
            bed.awaitEffects(20);
            assertThat(bed.effects()).doesNotContain(early);
            assertThat(bed.unsettled()).as("its offset is not committed").isEqualTo(21);
            until("it alone waits", () -> listener.pending() == 1);
            Instant day = Instant.ofEpochSecond(made.getEpochSecond() / DAY.toSeconds() * DAY.toSeconds());
            bed.execute("CREATE TABLE one_more PARTITION OF idem_marker FOR VALUES FROM ('" + first(day) + "') TO ('"
                    + first(day.plus(DAY)) + "')");
            bed.awaitEffects(21);
            bed.awaitSettled();
            assertThat(bed.effects()).contains(early);
            assertThat(runs).as("none was tried in vain").hasValue(21);
            assertThat(bed.letters()).isEmpty();
            until("it runs", () -> listener.state() == ListenerState.RUNNING);
        }
    }
}
