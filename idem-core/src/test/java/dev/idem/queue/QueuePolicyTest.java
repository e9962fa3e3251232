package dev.idem.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.Position;
import dev.idem.spi.Envelope;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class QueuePolicyTest {
    @Test
    @DisplayName("LS-07 every length has its bounds, and zero is not taken for a default")
    void boundaries() {
        for (Duration wrong :
                new Duration[] {Duration.ZERO, Duration.ofMillis(-1), Duration.ofMillis(99), Duration.ofDays(8)}) {
            assertThatThrownBy(() -> QueuePolicy.leased(wrong)).hasMessageContaining("the lease is " + wrong);
        }
        assertThat(QueuePolicy.leased(Duration.ofMillis(100)).lease()).isEqualTo(Duration.ofMillis(100));
        QueuePolicy policy = QueuePolicy.inTransaction();
        assertThatThrownBy(() -> policy.withWorkers(0)).hasMessageContaining("workers is 0");
        assertThatThrownBy(() -> policy.withBatch(0)).hasMessageContaining("batch is 0");
        assertThatThrownBy(() -> policy.withMaxBytes(0)).hasMessageContaining("maxBytes is 0");
        assertThatThrownBy(() -> policy.withIntakeCap(0)).hasMessageContaining("intakeCap is 0");
        assertThatThrownBy(() -> policy.withPoll(Duration.ZERO)).hasMessageContaining("poll is PT0S");
        assertThatThrownBy(() -> policy.withPayloadWindow(Duration.ofSeconds(-1)))
                .hasMessageContaining("must not be negative");
    }

    @Test
    void aChangedCopyLeavesTheOtherAlone() {
        QueuePolicy policy = QueuePolicy.inTransaction();
        QueuePolicy other = policy.withWorkers(7).withOrderByKey();
        assertThat(policy.workers()).isEqualTo(2);
        assertThat(policy.isOrdered()).isFalse();
        assertThat(other.workers()).isEqualTo(7);
        assertThat(other.isOrdered()).isTrue();
    }

    @Test
    void aQueueNeedsAMarkerThatDecides() {
        assertThatThrownBy(() -> Consumer.named("a")
                        .watermark()
                        .queued(QueuePolicy.inTransaction())
                        .build())
                .hasMessageContaining("has a watermark");
        assertThatThrownBy(() -> Consumer.named("a")
                        .policy(Policy.defaults().withObserveOnly())
                        .queued(QueuePolicy.inTransaction())
                        .build())
                .hasMessageContaining("observes only");
    }

    @Test
    @DisplayName("PG-24 PG-26 an envelope keeps everything, also what is absent, empty or malformed")
    void envelopes() {
        Message full = Message.builder()
                .id("\ud800 alone")
                .source("")
                .type("t\u0000")
                .version("2")
                .orderingKey("\uFFFF")
                .contentType("text/plain")
                .replaySession("again")
                .eventTime(Instant.MIN.plusNanos(1))
                .position(new Position("s", -1, Long.MIN_VALUE))
                .header("h", new byte[] {-1, 0})
                .header("h", new byte[0])
                .header("", "x")
                .payload(new byte[] {1})
                .build();
        for (Message message : new Message[] {full, Message.builder().build()}) {
            Message again = Envelope.message(Envelope.of(message), message.payload());
            assertThat(again).usingRecursiveComparison().isEqualTo(message);
        }
        byte[] bytes = Envelope.of(full);
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = java.util.Arrays.copyOf(bytes, length);
            assertThatThrownBy(() -> Envelope.message(cut, new byte[0])).isInstanceOf(IllegalArgumentException.class);
        }
        bytes[0] = 9;
        assertThatThrownBy(() -> Envelope.message(bytes, new byte[0])).hasMessageContaining("by a later release");
    }
}
