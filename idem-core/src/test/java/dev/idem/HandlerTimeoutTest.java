package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HandlerTimeoutTest extends InboxFixture {
    private static final Duration LIMIT = Duration.ofMillis(50);
    private static final Policy SHORT = Policy.defaults().withHandlerTimeout(LIMIT);

    @Test
    @DisplayName("PC-24 a handler that is too late loses its connection, is interrupted and rolled back")
    void aHandlerThatCanBeInterrupted() throws Exception {
        ScriptedUnit unit = store.thenGrant("c");
        store.thenBusy();
        assertThatThrownBy(() -> inbox.process(with(SHORT), MESSAGE, tx -> {
                    new CountDownLatch(1).await();
                    return "never";
                }))
                .isInstanceOf(HandlerTimeoutException.class)
                .hasCauseInstanceOf(InterruptedException.class)
                .hasMessageContaining("billing/" + ID)
                .hasMessageContaining("PT0.05S");
        unit.abandoned.await();
        assertThat(store.calls)
                .containsSubsequence("claim", "rollback", "close")
                .doesNotContain("commit");
        assertThat(Thread.interrupted())
                .as("our interrupt is not a request to stop")
                .isFalse();
        assertThat(events()).containsExactly("timedOut PT0.05S", "Failed RETRYABLE");
    }

    @Test
    @DisplayName("PC-24 a handler that returns a result too late is not committed")
    void aHandlerThatIgnoresTheInterrupt() {
        ScriptedUnit unit = store.thenGrant("c");
        store.thenBusy();
        Outcome<?> outcome = inbox.accept(
                handling(SHORT, (event, tx) -> {
                    awaitUninterruptibly(unit.abandoned);
                    return "late";
                }),
                MESSAGE);
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> assertThat(failed.cause()).isInstanceOf(HandlerTimeoutException.class));
        assertThat(store.calls).containsExactly("claim", "abandon", "rollback", "close", "claim");
    }

    @Test
    void aFailingRollbackIsSuppressedByTheTimeout() {
        StoreException gone = new StoreException("aborted", null);
        ScriptedUnit unit = store.thenGrant("c").rollbackFails(gone);
        store.thenFail(new StoreException("still away", null));
        assertThatThrownBy(() -> inbox.process(with(SHORT), MESSAGE, tx -> {
                    awaitUninterruptibly(unit.abandoned);
                    return "late";
                }))
                .isInstanceOf(HandlerTimeoutException.class)
                .hasSuppressedException(gone);
    }

    @Test
    void aHandlerMayRunForADay() {
        store.thenGrant("c");
        Policy patient =
                Policy.defaults().withHandlerTimeout(Duration.ofDays(1)).withBusyWait(Duration.ofHours(1));
        assertThat(inbox.process(with(patient), MESSAGE, tx -> "r")).isEqualTo(new Outcome.Processed<>("r"));
    }

    @Test
    @DisplayName("OP-01 a closed inbox is nobody's failed attempt")
    void aClosedInbox() {
        ScriptedUnit unit = store.thenGrant("c");
        inbox.close();
        Outcome<?> outcome = inbox.accept(handling((event, tx) -> event), MESSAGE);
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> assertThat(failed.kind()).isEqualTo(Failure.INFRASTRUCTURE));
        assertThat(store.calls).endsWith("claim", "close");
        assertThat(unit.abandoned.getCount()).isOne();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        while (true) {
            try {
                latch.await();
                return;
            } catch (InterruptedException ignored) {
                // a handler that does not listen
            }
        }
    }
}
