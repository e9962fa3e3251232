package dev.idem.internal.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.BrokenTransactionException;
import dev.idem.CommitRefusedException;
import dev.idem.Failure;
import dev.idem.HandlerTimeoutException;
import dev.idem.Policy;
import dev.idem.ScriptedStore;
import dev.idem.StoreException;
import dev.idem.TerminalException;
import dev.idem.spi.ClaimAnomalyException;
import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.TransientStoreException;
import java.sql.SQLTransientException;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class FailuresTest {

    @Test
    @DisplayName("RO-02 PC-22 the store's failures are never the message's fault, whatever the policy declares")
    void infrastructure() {
        Policy all = Policy.defaults().withTerminal(Set.of(Throwable.class));
        for (Throwable failure : new Throwable[] {
            new StoreException("s", null),
            new TransientStoreException("t", null),
            new CommitUnknownException("u", null),
            new ClaimAnomalyException("a", null),
            new InterruptedException(),
            new SQLTransientException()
        }) {
            assertThat(Failures.kindOf(failure, all, new ScriptedStore())).isEqualTo(Failure.INFRASTRUCTURE);
        }
    }

    @Test
    void aBrokenTransactionThatLeftSomethingBehindIsNeverRunAgainByItself() {
        assertThat(kindOf(new BrokenTransactionException("b", true, null))).isEqualTo(Failure.TERMINAL);
        assertThat(kindOf(new BrokenTransactionException("b", false, null))).isEqualTo(Failure.RETRYABLE);
    }

    @Test
    @DisplayName("RO-02 a timeout or a refusal stays what it is, whatever the abort made of its connection")
    void aTimeoutWithALostConnection() {
        assertThat(kindOf(new HandlerTimeoutException("h", new SQLTransientException())))
                .isEqualTo(Failure.RETRYABLE);
        assertThat(kindOf(new CommitRefusedException("c", new SQLTransientException())))
                .isEqualTo(Failure.RETRYABLE);
    }

    @Test
    void theRestIsThePolicysChoice() {
        assertThat(kindOf(new TerminalException("t", null))).isEqualTo(Failure.TERMINAL);
        assertThat(kindOf(new HandlerTimeoutException("h", null))).isEqualTo(Failure.RETRYABLE);
        assertThat(kindOf(new CommitRefusedException("c", null))).isEqualTo(Failure.RETRYABLE);
        assertThat(kindOf(new StackOverflowError())).isEqualTo(Failure.RETRYABLE);
    }

    @Test
    @DisplayName("HX-02 only errors after which the process should not go on are fatal")
    @SuppressWarnings("removal")
    void fatalErrors() {
        for (Error fatal : new Error[] {new OutOfMemoryError(), new InternalError(), new ThreadDeath()}) {
            assertThatThrownBy(() -> Failures.unlessFatal(fatal)).isSameAs(fatal);
        }
        for (Throwable other : new Throwable[] {new StackOverflowError(), new AssertionError(), new Exception()}) {
            assertThat(Failures.unlessFatal(other)).isSameAs(other);
        }
    }

    @Test
    @DisplayName("HX-03 an InterruptedException restores the flag")
    void interrupts() {
        Failures.unlessFatal(new InterruptedException());
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void theSameInstanceTwiceIsNotSuppressedByItself() {
        Exception failure = new Exception();
        assertThatCode(() -> Failures.suppress(failure, failure)).doesNotThrowAnyException();
        assertThat(failure.getSuppressed()).isEmpty();
    }

    private static Failure kindOf(Throwable failure) {
        return Failures.kindOf(failure, Policy.defaults(), new ScriptedStore());
    }
}
