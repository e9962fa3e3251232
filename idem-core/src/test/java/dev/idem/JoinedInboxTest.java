package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.Guarantee;
import dev.idem.spi.MarkerStore;
import java.io.IOException;
import java.sql.Connection;
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
        assertThat(store.calls).containsExactly("claim", "revoke");
        answer.confirm();
        assertThat(store.calls).containsExactly("claim", "revoke", "commit");
        assertThat(events()).containsExactly("Processed");
    }

    @Test
    @DisplayName("PC-07 confirming finds a transaction that something has broken, and tells it")
    void confirmingABrokenTransaction() {
        BrokenTransactionException broken = new BrokenTransactionException("gone", false, null);
        store.thenGrant("c").commitFails(broken);
        Provisional<String> answer = joined.process("billing", MESSAGE, tx -> "r");
        assertThatThrownBy(answer::confirm).isSameAs(broken);
        assertThat(events()).containsExactly("Processed", "broken");
    }

    @Test
    void duplicateBusyAndRejectedAreTrueNow() {
        store.thenTakenBy("other").thenBusy();
        Provisional<String> duplicate = joined.process("billing", MESSAGE, tx -> "r");
        duplicate.confirm();
        assertThat(duplicate.outcome()).isEqualTo(new Outcome.Duplicate<>(ScriptedStore.DONE_AT, Optional.empty()));
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
        assertThat(store.calls).containsExactly("claim", "rollback");
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
        assertThat(store.calls).containsExactly("claim", "revoke", "rollback");
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
