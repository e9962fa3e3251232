package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Rules of the user's own that fail for a message, which would fail again. */
class FailingRulesTest {
    private static final Message GARBAGE = Message.of("m-1", new byte[] {1});
    private final ScriptedStore store = new ScriptedStore();
    private final Inbox inbox = Inbox.create(store);

    @Test
    @DisplayName("KY-08 a message whose key cannot be read is rejected, not delivered for ever")
    void aSelectorThatThrows() {
        Consumer consumer = Consumer.named("payments")
                .key(KeySelector.business(m -> List.of(new String(m.payload(), 5, 9))))
                .otherwise((message, tx) -> "never")
                .build();
        assertThat(inbox.accept(consumer, GARBAGE)).isInstanceOfSatisfying(Outcome.Rejected.class, rejected -> {
            assertThat(rejected.reason()).isEqualTo(Rejection.KEY_MALFORMED);
            assertThat(rejected.detail()).contains("StringIndexOutOfBoundsException");
        });
        assertThat(store.calls).isEmpty();
    }

    @Test
    void aSelectorThatWantsToBeAskedAgain() {
        Consumer consumer = Consumer.named("payments")
                .key(KeySelector.business(m -> {
                    throw new RetryableException("registry away", null);
                }))
                .otherwise((message, tx) -> "never")
                .build();
        assertThat(inbox.accept(consumer, GARBAGE).settlement()).isEqualTo(Settlement.RETRY);
    }

    @Test
    void aFingerprintThatThrowsGoesToTheDeadLetters() {
        Fingerprint failing = Fingerprint.of(m -> {
            throw new IllegalStateException("no such field");
        });
        Consumer consumer = Consumer.named("payments")
                .policy(Policy.defaults().withFingerprint(failing))
                .otherwise((message, tx) -> "never")
                .build();
        assertThat(inbox.accept(consumer, GARBAGE).settlement()).isEqualTo(Settlement.DEAD_LETTER);
    }
}
