package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.TransientStoreException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** PC-05, and rule 6 of the design: the answer to a commit is lost, and only a claim may say what became of it. */
class UnknownCommitTest extends InboxFixture {
    private final CommitUnknownException lost = new CommitUnknownException("connection lost at COMMIT", null);
    private final AtomicInteger runs = new AtomicInteger();

    @BeforeEach
    void theFirstCommitIsLost() {
        store.thenGrant("ours").commitFails(lost);
    }

    @Test
    void aMarkerOfOurOwnClaimIsOurOwnCommit() {
        store.thenTakenBy("ours");
        assertThat(process()).isEqualTo(new Outcome.Processed<>("result 1"));
        assertThat(events()).containsExactly("commitUnknown", "ranAgain 2", "Processed");
    }

    @Test
    void aMarkerOfAnotherClaimIsADuplicate() {
        store.thenTakenBy("another's");
        assertThat(process()).isEqualTo(new Outcome.Duplicate<>(ScriptedStore.DONE_AT, Optional.empty()));
    }

    @Test
    void aGrantedClaimMeansThatItWasUndoneSoTheHandlerRunsAgain() {
        store.thenGrant("ours too");
        assertThat(process()).isEqualTo(new Outcome.Processed<>("result 2"));
    }

    @Test
    @DisplayName("a busy key means that the old commit may still be on its way: come again, never ACK")
    void aBusyKeyIsBusy() {
        store.thenBusy();
        assertThat(process().settlement()).isEqualTo(Settlement.RETRY);
        assertThat(runs).hasValue(1);
    }

    @Test
    void whatWasSentIsRememberedWhileTheStoreIsAway() {
        store.thenFail(new TransientStoreException("still down", null)).thenTakenBy("ours");
        assertThat(process()).isEqualTo(new Outcome.Processed<>("result 1"));
    }

    @Test
    void aSecondLostAnswerIsAskedForByItsOwnClaim() {
        store.thenGrant("second").commitFails(lost);
        store.thenTakenBy("second");
        assertThat(process()).isEqualTo(new Outcome.Processed<>("result 2"));
    }

    @Test
    void nothingButAClaimEverAnswersIt() {
        store.thenTakenBy("ours");
        process();
        assertThat(store.calls).containsExactly("claim", "revoke", "commit", "close", "claim");
    }

    @Test
    void withoutRunsLeftTheQuestionStaysOpenAndTheMessageComesAgain() {
        Consumer once = with(Policy.defaults().withMaxRuns(1));
        assertThatThrownBy(() -> inbox.process(once, MESSAGE, tx -> "r")).isSameAs(lost);
        assertThat(store.calls).containsExactly("claim", "revoke", "commit", "close");
        assertThat(events()).containsExactly("commitUnknown", "Failed INFRASTRUCTURE");
    }

    private Outcome<String> process() {
        return inbox.process(CONSUMER, MESSAGE, tx -> "result " + runs.incrementAndGet());
    }
}
