package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import java.sql.SQLTransientException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class BrokenTransactionTest extends InboxFixture {
    private static final Policy REFUSE = Policy.defaults().withUnusedTransaction(Policy.UnusedTransaction.REFUSE);

    private final BrokenTransactionException gone = new BrokenTransactionException("swallowed an error", false, null);
    private final BrokenTransactionException leftBehind = new BrokenTransactionException("committed", true, null);
    private final Consumer consumer = handling((event, tx) -> event);

    @Test
    @DisplayName("PC-07 a transaction that lost its marker is not acknowledged and comes again")
    void nothingLeftBehind() {
        store.thenGrant("c").commitFails(gone);
        Outcome<?> outcome = inbox.accept(consumer, MESSAGE);
        assertThat(outcome).isEqualTo(new Outcome.Failed<>(Failure.RETRYABLE, gone));
        assertThat(store.calls).containsExactly("claim", "revoke", "commit", "close");
        assertThat(events()).containsExactly("broken", "Failed RETRYABLE");
    }

    @Test
    @DisplayName("PC-09 PC-10 what was committed behind our back is never run again by itself")
    void somethingLeftBehind() {
        store.thenGrant("c").commitFails(leftBehind);
        Outcome<?> outcome = inbox.accept(consumer, MESSAGE);
        assertThat(outcome).isEqualTo(new Outcome.Failed<>(Failure.TERMINAL, leftBehind));
        assertThat(outcome.settlement()).isEqualTo(Settlement.DEAD_LETTER);
    }

    @Test
    @DisplayName("PC-10 a handler that committed and then failed: the broken transaction says more than its exception")
    void brokenAndFailed() {
        store.thenGrant("c").rollbackFails(leftBehind);
        IllegalStateException failure = new IllegalStateException("mine");
        assertThatThrownBy(() -> inbox.process(CONSUMER, MESSAGE, tx -> {
                    throw failure;
                }))
                .isSameAs(leftBehind)
                .hasSuppressedException(failure);
        assertThat(events()).containsExactly("broken", "Failed TERMINAL");
    }

    @Test
    @DisplayName("HX-01 work that goes on in another thread breaks the transaction, and it is told")
    void strayThreads() {
        store.thenGrant("c").revokeFails(gone);
        assertThatThrownBy(() -> inbox.process(CONSUMER, MESSAGE, tx -> "r")).isSameAs(gone);
        assertThat(store.calls).containsExactly("claim", "revoke", "close");
        assertThat(events()).containsExactly("broken", "Failed RETRYABLE");
    }

    @Test
    void aRefusedCommitIsTheHandlersFailure() {
        CommitRefusedException refused = new CommitRefusedException("deferred constraint", null);
        store.thenGrant("c").commitFails(refused);
        assertThat(inbox.accept(consumer, MESSAGE)).isEqualTo(new Outcome.Failed<>(Failure.RETRYABLE, refused));
        assertThat(events()).containsExactly("Failed RETRYABLE");
    }

    @Test
    void anUnusedTransactionIsToldEachTimeAndLoggedOnce() {
        store.thenGrant("a").unused();
        store.thenGrant("b").unused();
        Policy warn = Policy.defaults().withUnusedTransaction(Policy.UnusedTransaction.WARN);
        try (Logged logged = new Logged()) {
            inbox.process(with(warn), MESSAGE, tx -> "r");
            inbox.process(with(warn), MESSAGE, tx -> "r");
            assertThat(logged.lines(Level.WARN)).singleElement().asString().contains("billing", "unusedTransaction");
        }
        assertThat(events()).containsExactly("unused", "Processed", "unused", "Processed");
    }

    @Test
    void anUnusedTransactionIsRefusedWithAdvice() {
        store.thenGrant("c").unused();
        assertThatThrownBy(() -> inbox.process(with(REFUSE), MESSAGE, tx -> "r"))
                .isInstanceOfSatisfying(
                        BrokenTransactionException.class,
                        broken -> assertThat(broken.leftBehind()).isFalse())
                .hasMessageContainingAll(
                        "billing/" + ID, "tx.connection()", "tx.nothingToDo()", "unusedTransaction=ALLOW");
        assertThat(store.calls).containsExactly("claim", "revoke", "rollback", "close");
        assertThat(events()).containsExactly("broken", "Failed RETRYABLE");
    }

    @Test
    void aHandlerMaySayThatThereIsNothingToDo() {
        store.thenGrant("c").unused();
        assertThat(inbox.run(with(REFUSE), MESSAGE, Transaction::nothingToDo)).isInstanceOf(Outcome.Processed.class);
        assertThat(events()).containsExactly("Processed");
    }

    @Test
    void whatARunSaidCountsForThatRunAlone() {
        store.thenGrant("a").unused();
        store.thenGrant("b").unused();
        assertThatThrownBy(() -> inbox.run(with(REFUSE), MESSAGE, tx -> {
                    if (tx.run() == 1) {
                        tx.nothingToDo();
                        throw new SQLTransientException("once more");
                    }
                }))
                .hasMessageContaining("tx.nothingToDo()");
    }

    @Test
    void anUnusedTransactionCanBeAllowed() {
        store.thenGrant("c").unused();
        Policy allow = Policy.defaults().withUnusedTransaction(Policy.UnusedTransaction.ALLOW);
        inbox.process(with(allow), MESSAGE, tx -> "r");
        assertThat(events()).containsExactly("Processed");
    }
}
