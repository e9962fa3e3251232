package dev.idem.internal.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.CommitRefusedException;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.InboxFixture;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.ScriptedStore;
import dev.idem.Settlement;
import dev.idem.StoreException;
import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.TransientStoreException;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
        assertThat(process())
                .isEqualTo(
                        new Outcome.Duplicate<>(Outcome.Duplicate.State.DONE, ScriptedStore.DONE_AT, Optional.empty()));
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

    @Test
    @DisplayName("PG-05 a granted claim after an answer that nobody understands proves that the commit was refused")
    void aGrantedClaimAfterAnAnswerIsARefusal() {
        ScriptedStore other = new ScriptedStore();
        Exception said = new Exception("ID001");
        for (Policy policy : new Policy[] {Policy.defaults(), Policy.defaults().withMaxRuns(1)}) {
            runs.set(0);
            other.thenGrant("first").commitFails(new CommitUnknownException("answered", said, true));
            other.thenGrant("second");
            try (Inbox its = Inbox.create(other)) {
                assertThatThrownBy(() -> its.process(with(policy), MESSAGE, tx -> runs.incrementAndGet()))
                        .isInstanceOf(CommitRefusedException.class)
                        .hasCause(said);
            }
            assertThat(runs).hasValue(1);
        }
        assertThat(other.calls).doesNotContain("rollback").contains("claim", "commit", "close");
    }

    @Test
    @DisplayName("PG-15 a marker after such an answer is our own commit all the same")
    void aMarkerAfterAnAnswer() {
        ScriptedStore other = new ScriptedStore();
        other.thenGrant("ours").commitFails(new CommitUnknownException("answered", null, true));
        other.thenTakenBy("ours");
        try (Inbox its = Inbox.create(other)) {
            assertThat(its.process(with(Policy.defaults().withMaxRuns(1)), MESSAGE, tx -> "r"))
                    .isEqualTo(new Outcome.Processed<>("r"));
        }
    }

    @Test
    @DisplayName("PG-20 lost answers in a row, each proven undone, become the message's own failure")
    void lostAnswersInARow() {
        for (int i = 1; i < UnknownCommits.LIMIT; i++) {
            store.thenGrant("run " + i).commitFails(lost);
        }
        store.thenGrant("not run");
        assertThatThrownBy(this::process).isInstanceOf(CommitRefusedException.class);
        assertThat(runs).hasValue(UnknownCommits.LIMIT);
        assertThat(events()).endsWith("Failed RETRYABLE");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("RO-02 a store that is away in between takes the blame, also one that has no connection to give")
    void anOutageTakesTheBlame(boolean noConnection) {
        store.thenGrant("second").commitFails(lost);
        SQLException down = new SQLException("down", "08001");
        store.thenFail(
                noConnection ? new StoreException("no connection", down) : new TransientStoreException("down", down));
        if (noConnection) {
            assertThatThrownBy(this::process).isInstanceOf(StoreException.class);
        }
        store.thenGrant("third").commitFails(lost);
        store.thenGrant("fourth");
        assertThat(process()).isEqualTo(new Outcome.Processed<>("result 4"));
    }

    private Outcome<String> process() {
        return inbox.process(CONSUMER, MESSAGE, tx -> "result " + runs.incrementAndGet());
    }
}
