package dev.idem.internal.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.BrokenTransactionException;
import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.InboxFixture;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.StoreException;
import java.io.IOException;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class HandlerFailureTest extends InboxFixture {

    @Test
    @DisplayName("HX-05 a checked exception rolls back and passes through as the same instance")
    void checkedExceptions() {
        store.thenGrant("c");
        IOException failure = new IOException("mine");
        assertThatThrownBy(() -> inbox.process(CONSUMER, MESSAGE, tx -> {
                    throw failure;
                }))
                .isSameAs(failure)
                .hasNoSuppressedExceptions();
        assertThat(store.calls).containsExactly("claim", "rollback", "close");
        assertThat(events()).containsExactly("Failed RETRYABLE");
    }

    @Test
    void aFailingRollbackIsSuppressedAndTheHandlersExceptionStays() {
        StoreException secondary = new StoreException("connection gone", null);
        store.thenGrant("c").rollbackFails(secondary);
        IllegalStateException failure = new IllegalStateException("mine");
        assertThatThrownBy(() -> inbox.process(CONSUMER, MESSAGE, tx -> {
                    throw failure;
                }))
                .isSameAs(failure)
                .hasSuppressedException(secondary);
        assertThat(store.calls).containsExactly("claim", "rollback", "close");
    }

    @Test
    void aRollbackThatThrowsTheHandlersOwnInstanceChangesNothing() {
        IllegalStateException failure = new IllegalStateException("mine");
        store.thenGrant("c").rollbackFails(failure);
        assertThatThrownBy(() -> inbox.process(CONSUMER, MESSAGE, tx -> {
                    throw failure;
                }))
                .isSameAs(failure);
    }

    @Test
    void acceptTurnsItIntoAnOutcomeAsThePolicySays() {
        Policy policy = Policy.defaults().withTerminal(Set.of(IOException.class));
        assertFailed(policy, new IOException(), Failure.TERMINAL);
        assertFailed(policy, new IllegalStateException(), Failure.RETRYABLE);
        assertFailed(policy, new AssertionError(), Failure.RETRYABLE);
        assertFailed(policy, new StoreException("another inbox's", null), Failure.INFRASTRUCTURE);
    }

    @Test
    @DisplayName("HX-02 a stack overflow is the handler's failure, not the end of the process")
    void stackOverflow() {
        assertFailed(Policy.defaults(), new StackOverflowError(), Failure.RETRYABLE);
    }

    @Test
    @DisplayName("HX-02 after an OutOfMemoryError everything is rolled back and the error goes on")
    void fatalErrorsAreThrownAfterTheRollback() {
        store.thenGrant("c");
        OutOfMemoryError fatal = new OutOfMemoryError("simulated");
        Consumer consumer = throwing(Policy.defaults(), fatal);
        assertThatThrownBy(() -> inbox.accept(consumer, MESSAGE)).isSameAs(fatal);
        assertThat(store.calls).containsExactly("claim", "rollback", "close");
        assertThat(events()).containsExactly("Failed RETRYABLE");
    }

    @Test
    @DisplayName("HX-02 a broken transaction does not hide a fatal error")
    void fatalErrorsAreNotHidden() {
        BrokenTransactionException broken = new BrokenTransactionException("committed", true, null);
        store.thenGrant("c").rollbackFails(broken);
        OutOfMemoryError fatal = new OutOfMemoryError("simulated");
        Consumer consumer = throwing(Policy.defaults(), fatal);
        assertThatThrownBy(() -> inbox.accept(consumer, MESSAGE))
                .isSameAs(fatal)
                .hasSuppressedException(broken);
        assertThat(events()).containsExactly("broken", "Failed RETRYABLE");
    }

    @Test
    @DisplayName("HX-03 an interrupted handler is nobody's failed attempt, and the flag is restored")
    void interrupts() {
        assertFailed(Policy.defaults(), new InterruptedException(), Failure.INFRASTRUCTURE);
        assertThat(Thread.interrupted()).isTrue();
    }

    private void assertFailed(Policy policy, Throwable failure, Failure kind) {
        store.thenGrant("c");
        Outcome<?> outcome = inbox.accept(throwing(policy, failure), MESSAGE);
        assertThat(outcome).isEqualTo(new Outcome.Failed<>(kind, failure));
        assertThat(store.calls).endsWith("claim", "rollback", "close");
    }

    private static Consumer throwing(Policy policy, Throwable failure) {
        return handling(policy, (event, tx) -> {
            throw Failures.<Exception>asDeclared(failure);
        });
    }
}
