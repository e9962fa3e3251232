package dev.idem.join;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.InboxFixture;
import dev.idem.Message;
import dev.idem.NestedProcessingException;
import dev.idem.Outcome;
import dev.idem.PayloadDecoder;
import dev.idem.Policy;
import dev.idem.Rejection;
import dev.idem.ScriptedStore;
import dev.idem.ScriptedUnit;
import dev.idem.Selection;
import dev.idem.Settlement;
import dev.idem.StoreException;
import dev.idem.TerminalException;
import dev.idem.Transaction;
import dev.idem.queue.QueuePolicy;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.Guarantee;
import dev.idem.spi.MarkerStore;
import java.io.IOException;
import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class JoinedInboxTest extends InboxFixture {
    private final JoinedInbox joined = inbox.within(ScriptedUnit.stub(Connection.class));

    @Test
    void theOwnerCommitsAndMayConfirmFirst() {
        store.thenGrant("c");
        Provisional<String> answer = joined.process("billing", MESSAGE, tx -> "r");
        assertThat(answer.outcome()).isEqualTo(new Outcome.Processed<>("r"));
        assertThat(store.calls).containsExactly("claim", "revoke", "commit", "close");
        answer.confirm();
        assertThat(store.calls).containsExactly("claim", "revoke", "commit", "close", "commit");
        assertThat(events()).containsExactly("Processed");
    }

    @Test
    @DisplayName("PC-07 confirming finds a transaction that something has broken, and tells it")
    void confirmingABrokenTransaction() {
        BrokenTransactionException broken = new BrokenTransactionException("gone", false, null);
        ScriptedUnit unit = store.thenGrant("c");
        Provisional<String> answer = joined.process("billing", MESSAGE, tx -> "r");
        unit.commitFails(broken);
        assertThatThrownBy(answer::confirm).isSameAs(broken);
        assertThat(events()).containsExactly("Processed", "broken");
    }

    @Test
    @DisplayName("PC-10 a transaction that was broken inside the handler is told instead of an answer")
    void aBrokenTransactionHasNoAnswer() {
        BrokenTransactionException broken = new BrokenTransactionException("committed", true, null);
        store.thenGrant("c").commitFails(broken);
        assertThatThrownBy(() -> joined.process("billing", MESSAGE, tx -> "r")).isSameAs(broken);
        assertThat(store.calls).containsExactly("claim", "revoke", "commit", "rollback", "rollback only", "close");
        assertThat(events()).containsExactly("broken", "Failed TERMINAL");
    }

    @Test
    void whatFailsBeforeTheHandlerLeavesTheOwnersTransactionAsItWas() {
        StoreException locked = new StoreException("the horizon cannot be read", null);
        store.thenGrant("c").horizonFails(locked);
        assertThatThrownBy(() -> joined.process("billing", MESSAGE, tx -> "never"))
                .isSameAs(locked);
        assertThat(store.calls).containsExactly("claim", "close");
        assertThat(events()).containsExactly("Failed INFRASTRUCTURE");
    }

    @Test
    void anOwnerMaySayThatUndoingIsEnough() {
        JoinedInbox undoing = inbox.within(ScriptedUnit.stub(Connection.class), JoinedFailure.UNDO_TO_SAVEPOINT);
        store.thenGrant("c");
        assertThatThrownBy(() -> undoing.process("billing", MESSAGE, tx -> {
                    throw new IOException("mine");
                }))
                .hasNoSuppressedExceptions();
        assertThat(store.calls).containsExactly("claim", "rollback", "close");
    }

    @Test
    void theFailureSaysOnceWhatBecameOfTheOwnersTransaction() {
        IOException always = new IOException("mine");
        for (int i = 0; i < 2; i++) {
            store.thenGrant("c");
            assertThatThrownBy(() -> joined.process("billing", MESSAGE, tx -> {
                        throw always;
                    }))
                    .isSameAs(always);
        }
        assertThat(always.getSuppressed())
                .singleElement()
                .asString()
                .contains("can only be rolled back", "UNDO_TO_SAVEPOINT");
    }

    @Test
    void acceptsWithTheConsumersHandler() {
        store.thenGrant("c");
        Provisional<?> answer = joined.accept(handling((event, tx) -> event), MESSAGE);
        assertThat(answer.outcome()).isInstanceOf(Outcome.Processed.class);
        assertThat(answer.settlement(true)).isEqualTo(Settlement.ACK);
        assertThat(events()).containsExactly("Processed");
    }

    @Test
    void whatAcceptThrowsElsewhereIsAnOutcome() {
        store.thenGrant("a");
        store.thenGrant("b");
        Consumer failing = handling((event, tx) -> {
            throw new TerminalException("no", null);
        });
        Provisional<?> failed = joined.accept(failing, MESSAGE);
        assertThat(failed.outcome()).isInstanceOf(Outcome.Failed.class);
        assertThat(failed.settlement(false))
                .as("not undone by the rollback it asks for")
                .isEqualTo(Settlement.DEAD_LETTER);
        assertThat(store.calls).containsExactly("claim", "rollback", "rollback only", "close");
        store.calls.clear();

        Consumer undecodable = Consumer.named("billing")
                .on(
                        "t",
                        message -> {
                            throw new IllegalStateException("secret");
                        },
                        (Object event, Transaction tx) -> "never")
                .build();
        assertThat(joined.accept(undecodable, MESSAGE).outcome())
                .isInstanceOfSatisfying(
                        Outcome.Rejected.class,
                        rejected -> assertThat(rejected.reason()).isEqualTo(Rejection.UNDECODABLE));
        assertThat(store.calls).as("no handler saw it, so the owner may go on").containsExactly("claim", "close");

        Consumer typed = Consumer.named("billing")
                .on("known", PayloadDecoder.text(), (event, tx) -> "never")
                .build();
        assertThat(joined.accept(typed, MESSAGE).outcome())
                .isInstanceOfSatisfying(
                        Outcome.Rejected.class,
                        rejected -> assertThat(rejected.reason()).isEqualTo(Rejection.UNKNOWN_TYPE));
        assertThat(events()).containsExactly("Failed TERMINAL", "Rejected", "Rejected");
    }

    @Test
    void runsWorkThatReturnsNothing() {
        store.thenGrant("c");
        assertThat(joined.run("billing", MESSAGE, tx -> {}).outcome()).isInstanceOf(Outcome.Processed.class);
    }

    @Test
    void theAnswerSaysWhatItIsWithoutWhatTheWorkReturned() {
        store.thenGrant("c");
        assertThat(joined.process("billing", MESSAGE, tx -> "secret"))
                .hasToString("Provisional[Processed, ACK once the owner has committed]");
    }

    @Test
    void aQueuedConsumerIsRefused() {
        Consumer queued = Consumer.named("billing")
                .on("t", PayloadDecoder.text(), (event, tx) -> "never")
                .queued(QueuePolicy.inTransaction())
                .build();
        assertThatThrownBy(() -> joined.accept(queued, MESSAGE))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("queued");
    }

    @Test
    @DisplayName("HX-08 beside a transaction that is open on the thread nothing is processed")
    void anOpenTransactionIsRefused() {
        store.open = "a transaction of somebody's";
        assertThatThrownBy(() -> inbox.process("billing", MESSAGE, tx -> "never"))
                .isInstanceOf(NestedProcessingException.class)
                .hasMessageContainingAll(
                        "a transaction is open on this thread; use inbox.within(", "a transaction of somebody's");
        Consumer consumer = handling((event, tx) -> "never");
        assertThatThrownBy(() -> inbox.accept(consumer, MESSAGE)).isInstanceOf(NestedProcessingException.class);
        assertThatThrownBy(() -> inbox.acceptAll(consumer, List.of(MESSAGE)))
                .isInstanceOf(NestedProcessingException.class);
        Consumer parking = Consumer.named("billing")
                .parking(QueuePolicy.inTransaction())
                .otherwise((message, tx) -> "never")
                .build();
        assertThatThrownBy(() -> inbox.park(parking, MESSAGE, "FAILED", null))
                .isInstanceOf(NestedProcessingException.class)
                .hasMessageContainingAll("park a message of billing", "a transaction of somebody's");
        assertThat(store.calls).isEmpty();
        store.thenGrant("c");
        assertThat(joined.process("billing", MESSAGE, tx -> "r").outcome()).isInstanceOf(Outcome.Processed.class);
        store.thenGrant("d");
        assertThat(inbox.process(with(Policy.defaults().withObserveOnly()), MESSAGE, tx -> "r"))
                .as("observe mode stops nothing")
                .isInstanceOf(Outcome.Processed.class);
    }

    @Test
    @DisplayName("HX-08 beside another transaction that is open on the thread none is joined")
    void anotherOpenTransactionIsRefused() {
        store.beside = "a transaction of somebody's";
        assertThatThrownBy(() -> joined.process("billing", MESSAGE, tx -> "never"))
                .isInstanceOf(NestedProcessingException.class)
                .hasMessageContainingAll("another transaction than its own is open", "a transaction of somebody's");
        Consumer consumer = handling((event, tx) -> "never");
        assertThatThrownBy(() -> joined.accept(consumer, MESSAGE)).isInstanceOf(NestedProcessingException.class);
        assertThat(store.calls).isEmpty();
        store.thenGrant("c");
        assertThat(joined.process(with(Policy.defaults().withObserveOnly()), MESSAGE, tx -> "r")
                        .outcome())
                .as("observe mode stops nothing")
                .isInstanceOf(Outcome.Processed.class);
    }

    @Test
    void duplicateBusyAndRejectedAreTrueNow() {
        store.thenTakenBy("other").thenBusy();
        Provisional<String> duplicate = joined.process("billing", MESSAGE, tx -> "r");
        duplicate.confirm();
        assertThat(duplicate.outcome())
                .isEqualTo(
                        new Outcome.Duplicate<>(Outcome.Duplicate.State.DONE, ScriptedStore.DONE_AT, Optional.empty()));
        assertThat(joined.process("billing", MESSAGE, tx -> "r").outcome()).isEqualTo(new Outcome.Busy<>());
        assertThat(joined.process("billing", Message.builder().build(), tx -> "r")
                        .outcome())
                .isInstanceOf(Outcome.Rejected.class);
        assertThat(events()).containsExactly("Duplicate", "Busy", "Rejected");
    }

    @Test
    void aMessageWithoutAKeyRunsUnguardedIfItsConsumerSaysSo() {
        store.thenGrant("c");
        Policy unguarded = Policy.defaults().withMissingKey(Policy.MissingKey.PROCESS_UNGUARDED);
        assertThat(joined.process(with(unguarded), Message.builder().build(), tx -> "r")
                        .outcome())
                .isEqualTo(new Outcome.Processed<>("r"));
        assertThat(events()).containsExactly("unguarded KEY_MISSING", "Processed");
    }

    @Test
    void theKeyIsSelectedOnce() {
        AtomicInteger asked = new AtomicInteger();
        Consumer counting = Consumer.named("billing")
                .key(message -> {
                    asked.incrementAndGet();
                    return Selection.of(Optional.empty());
                })
                .build();
        joined.process(counting, MESSAGE, tx -> "r");
        assertThat(asked).hasValue(1);
    }

    @Test
    void theHandlersExceptionPassesThroughAfterTheRollbackAndIsReported() {
        store.thenGrant("c");
        IOException failure = new IOException("mine");
        assertThatThrownBy(() -> joined.process("billing", MESSAGE, tx -> {
                    throw failure;
                }))
                .isSameAs(failure);
        assertThat(store.calls).containsExactly("claim", "rollback", "rollback only", "close");
        assertThat(events()).containsExactly("Failed RETRYABLE");
    }

    @Test
    void aFailingRollbackIsSuppressed() {
        StoreException gone = new StoreException("gone", null);
        store.thenGrant("c").rollbackFails(gone);
        assertThatThrownBy(() -> joined.process("billing", MESSAGE, tx -> {
                    throw new IllegalStateException("mine");
                }))
                .hasMessage("mine")
                .hasSuppressedException(gone);
    }

    @Test
    @DisplayName("PC-10 a handler that committed and then failed is told as a broken transaction")
    void aBrokenTransactionSaysMore() {
        BrokenTransactionException broken = new BrokenTransactionException("committed", true, null);
        store.thenGrant("c").rollbackFails(broken);
        assertThatThrownBy(() -> joined.process("billing", MESSAGE, tx -> {
                    throw new IllegalStateException("mine");
                }))
                .isSameAs(broken);
        assertThat(events()).containsExactly("broken", "Failed TERMINAL");
    }

    @Test
    @DisplayName("HX-01 work that goes on in another thread breaks the transaction, and it is told")
    void strayThreads() {
        BrokenTransactionException stray = new BrokenTransactionException("still using it", false, null);
        store.thenGrant("c").revokeFails(stray);
        assertThatThrownBy(() -> joined.process("billing", MESSAGE, tx -> "r")).isSameAs(stray);
        assertThat(store.calls).containsExactly("claim", "revoke", "rollback", "rollback only", "close");
        assertThat(events()).containsExactly("broken", "Failed RETRYABLE");
    }

    @Test
    void aStoreThatCannotJoinSaysSo() {
        MarkerStore plain = new Plain();
        try (Inbox other = Inbox.create(plain)) {
            assertThatThrownBy(() -> other.within(ScriptedUnit.stub(Connection.class)))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageStartingWith("plain cannot join");
        }
    }

    private static final class Plain implements MarkerStore {
        @Override
        public Guarantee guarantee() {
            return Guarantee.EFFECTIVELY_ONCE;
        }

        @Override
        public String describe() {
            return "plain";
        }

        @Override
        public void register(String consumer) {}

        @Override
        public Claim claim(ClaimRequest request) {
            return new Claim.Busy();
        }

        @Override
        public boolean isTransient(Throwable failure) {
            return false;
        }

        @Override
        public void close() {}
    }
}
