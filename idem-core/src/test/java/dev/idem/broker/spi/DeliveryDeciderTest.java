package dev.idem.broker.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.IdemException;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.RetryPolicy;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.ScriptedInbox;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a listener of one's own is told. */
class DeliveryDeciderTest {
    private static final Message MESSAGE = Message.of("m1", new byte[] {1});
    private static final DeliveryDecider TRIAGE = new DeliveryDecider(
            Consumer.of("billing"), RetryPolicy.fixed(Duration.ofMillis(1)).withMaxAttempts(3));

    private static Outcome<?> failed(Failure kind) {
        return new Outcome.Failed<>(kind, new IllegalStateException("now"));
    }

    private static Inbox answering(Outcome<?>... outcomes) {
        Deque<Outcome<?>> next = new ArrayDeque<>(List.of(outcomes));
        return ScriptedInbox.each(message -> next.remove());
    }

    @Test
    @DisplayName("a message is tried again until it is done: twins and outages count as no attempt")
    void tried() {
        assertThat(TRIAGE.untilDecided(
                        answering(
                                failed(Failure.RETRYABLE),
                                new Outcome.Busy<>(),
                                failed(Failure.INFRASTRUCTURE),
                                failed(Failure.RETRYABLE),
                                new Outcome.Processed<>("done")),
                        MESSAGE))
                .isEmpty();
    }

    @Test
    @DisplayName("a message that fails too often, or for good, must be set aside")
    void setAside() {
        assertThat(TRIAGE.untilDecided(
                        answering(failed(Failure.RETRYABLE), failed(Failure.RETRYABLE), failed(Failure.RETRYABLE)),
                        MESSAGE))
                .hasValueSatisfying(letter -> {
                    assertThat(letter.reason()).isEqualTo("EXHAUSTED");
                    assertThat(letter.attempts()).isEqualTo(3);
                });
        assertThat(TRIAGE.untilDecided(answering(failed(Failure.TERMINAL)), MESSAGE))
                .hasValueSatisfying(letter -> assertThat(letter.reason()).isEqualTo("FAILED"));
    }

    @Test
    @DisplayName("one that is interrupted while it waits decides nothing")
    void interrupted() {
        Inbox inbox = answering(failed(Failure.INFRASTRUCTURE));
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> TRIAGE.untilDecided(inbox, MESSAGE)).isInstanceOf(IdemException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @DisplayName("a count of replays that somebody forged does not overflow")
    void forgedCounts() {
        for (String forged : List.of("2147483647", "-2147483648", "many")) {
            Message letter = Message.builder().header("idem-replays", forged).build();
            assertThat(DeadLetter.headersOfReplay(letter))
                    .singleElement()
                    .satisfies(header ->
                            assertThat(Integer.parseInt(header.text())).isPositive());
        }
    }
}
