package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class DecodingTest extends InboxFixture {
    private static final Message SECRET =
            Message.builder().id(ID).type("t").payload(bytes("CANARY-4711")).build();

    @BeforeEach
    void grant() {
        store.thenGrant("c");
    }

    @Test
    @DisplayName("KF-08 SE-04 what cannot be decoded is rejected without quoting it, and rolled back")
    void undecodable() {
        try (Logged logged = new Logged()) {
            Outcome<?> outcome = inbox.accept(
                    decoding(message -> {
                        throw new IllegalArgumentException("cannot read " + new String(message.payload()));
                    }),
                    SECRET);
            assertThat(outcome)
                    .isEqualTo(new Outcome.Rejected<>(
                            Rejection.UNDECODABLE,
                            "the payload could not be decoded: java.lang.IllegalArgumentException"));
            assertThat(String.join("\n", logged.lines())).doesNotContain("CANARY");
        }
        assertThat(store.calls).containsExactly("claim", "rollback", "close");
        assertThat(events()).containsExactly("Rejected");
        assertThat(heard.deliveries.toString()).doesNotContain("CANARY");
    }

    @Test
    @DisplayName("KY-08 nesting so deep that the stack overflows would overflow it again")
    void tooDeep() {
        Outcome<?> outcome = inbox.accept(
                decoding(message -> {
                    throw new StackOverflowError();
                }),
                SECRET);
        assertThat(outcome.settlement()).isEqualTo(Settlement.DEAD_LETTER);
    }

    @Test
    @DisplayName("HX-03 an interrupted decoder is not the message's fault")
    void interrupted() {
        InterruptedException stop = new InterruptedException();
        Outcome<?> outcome = inbox.accept(
                decoding(message -> {
                    throw stop;
                }),
                SECRET);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(outcome).isEqualTo(new Outcome.Failed<>(Failure.INFRASTRUCTURE, stop));
    }

    @Test
    void aDecoderMayAskForAnotherDelivery() {
        RetryableException registryDown = new RetryableException("schema registry is down", null);
        Outcome<?> outcome = inbox.accept(
                decoding(message -> {
                    throw registryDown;
                }),
                SECRET);
        assertThat(outcome).isEqualTo(new Outcome.Failed<>(Failure.RETRYABLE, registryDown));
    }

    @Test
    void aBrokenTransactionSaysMoreThanADecoder() {
        BrokenTransactionException broken = new BrokenTransactionException("committed", true, null);
        ScriptedStore breaking = new ScriptedStore();
        breaking.thenGrant("c").rollbackFails(broken);
        try (Inbox other = Inbox.create(breaking)) {
            Outcome<?> outcome = other.accept(
                    decoding(message -> {
                        throw new IllegalArgumentException();
                    }),
                    SECRET);
            assertThat(outcome).isEqualTo(new Outcome.Failed<>(Failure.TERMINAL, broken));
        }
    }

    @Test
    void theBuiltInDecodersGiveBytesTextAndTheMessage() throws Exception {
        assertThat(PayloadDecoder.bytes().decode(SECRET)).isEqualTo(SECRET.payload());
        assertThat(PayloadDecoder.text().decode(SECRET)).isEqualTo("CANARY-4711");
        assertThat(PayloadDecoder.message().decode(SECRET)).isSameAs(SECRET);
    }

    private static Consumer decoding(PayloadDecoder<String> decoder) {
        return Consumer.named("billing")
                .on("t", decoder, (event, tx) -> {
                    throw new AssertionError("must not be called");
                })
                .build();
    }
}
