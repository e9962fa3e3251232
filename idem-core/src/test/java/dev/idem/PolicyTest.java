package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PolicyTest {
    @Test
    void resultsHaveACap() {
        assertThat(Policy.defaults().maxResultBytes()).isEqualTo(1 << 20);
        assertThat(Policy.defaults().withMaxResultBytes(5).maxResultBytes()).isEqualTo(5);
        assertThatThrownBy(() -> Policy.defaults().withMaxResultBytes(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Policy.defaults().withMaxResultBytes(Integer.MAX_VALUE))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static final Policy DEFAULTS = Policy.defaults();

    @Test
    void theDefaultsAreTheSafeChoices() {
        assertThat(DEFAULTS.missingKey()).isEqualTo(Policy.MissingKey.REJECT);
        assertThat(DEFAULTS.unknownType()).isEqualTo(Policy.UnknownType.REJECT);
        assertThat(DEFAULTS.unusedTransaction()).isEqualTo(Policy.UnusedTransaction.REFUSE);
        assertThat(DEFAULTS.busyWait()).isEqualTo(Duration.ofSeconds(2));
        assertThat(DEFAULTS.handlerTimeout()).isEqualTo(Duration.ofMinutes(1));
        assertThat(DEFAULTS.maxRuns()).isEqualTo(5);
        assertThat(DEFAULTS.fingerprint()).isSameAs(Fingerprint.ofPayload());
        assertThat(DEFAULTS.terminal()).isEmpty();
        assertThat(DEFAULTS.window()).contains(Duration.ofDays(7));
        assertThat(DEFAULTS.resultWindow()).isEqualTo(Duration.ofDays(1));
        assertThat(DEFAULTS.undecidable()).isEqualTo(Policy.Undecidable.PARK);
        assertThat(DEFAULTS.clockSkew()).isEqualTo(Duration.ofMinutes(5));
        assertThat(DEFAULTS.observeOnly()).isFalse();
    }

    @Test
    void eachWitherChangesItsFieldAndNoOther() {
        Policy changed = DEFAULTS.withMissingKey(Policy.MissingKey.PROCESS_UNGUARDED)
                .withUnknownType(Policy.UnknownType.IGNORE)
                .withUnusedTransaction(Policy.UnusedTransaction.ALLOW)
                .withBusyWait(Duration.ZERO)
                .withHandlerTimeout(Duration.ofNanos(1))
                .withMaxRuns(1)
                .withFingerprint(Fingerprint.off())
                .withWindow(Duration.ofDays(30))
                .withResultWindow(Duration.ofDays(2))
                .withUndecidable(Policy.Undecidable.PROCESS)
                .withClockSkew(Duration.ZERO)
                .withObserveOnly()
                .withTerminal(Set.of(IOException.class));
        assertThat(changed.window()).contains(Duration.ofDays(30));
        assertThat(changed.resultWindow()).isEqualTo(Duration.ofDays(2));
        assertThat(changed.undecidable()).isEqualTo(Policy.Undecidable.PROCESS);
        assertThat(changed.clockSkew()).isEqualTo(Duration.ZERO);
        assertThat(changed.observeOnly()).isTrue();
        assertThat(changed.missingKey()).isEqualTo(Policy.MissingKey.PROCESS_UNGUARDED);
        assertThat(changed.unknownType()).isEqualTo(Policy.UnknownType.IGNORE);
        assertThat(changed.unusedTransaction()).isEqualTo(Policy.UnusedTransaction.ALLOW);
        assertThat(changed.busyWait()).isEqualTo(Duration.ZERO);
        assertThat(changed.handlerTimeout()).isEqualTo(Duration.ofNanos(1));
        assertThat(changed.maxRuns()).isEqualTo(1);
        assertThat(changed.fingerprint()).isSameAs(Fingerprint.off());
        assertThat(changed.terminal()).containsExactly(IOException.class);
        assertThat(DEFAULTS.busyWait()).isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void wrongValuesFailAtConstructionAndSayWhy() {
        assertThatThrownBy(() -> DEFAULTS.withBusyWait(Duration.ofMillis(-1))).hasMessageContaining("busyWait is PT-0");
        assertThatThrownBy(() -> DEFAULTS.withHandlerTimeout(Duration.ZERO))
                .hasMessageContaining("handlerTimeout is PT0S");
        assertThatThrownBy(() -> DEFAULTS.withHandlerTimeout(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> DEFAULTS.withMaxRuns(0)).hasMessageContaining("maxRuns is 0");
    }

    @Test
    void theSetOfTerminalExceptionsIsCopied() {
        Set<Class<? extends Throwable>> given = new HashSet<>(Set.of(IOException.class));
        Policy policy = DEFAULTS.withTerminal(given);
        given.clear();
        assertThat(policy.terminal()).containsExactly(IOException.class);
    }

    @Test
    void theHandlersExplicitChoiceWinsOverTheDeclaredTypes() {
        Policy policy = DEFAULTS.withTerminal(Set.of(IOException.class, RuntimeException.class));
        assertThat(policy.classify(new FileNotFoundException())).isEqualTo(Failure.TERMINAL);
        assertThat(policy.classify(new RetryableException("r", new IOException())))
                .isEqualTo(Failure.RETRYABLE);
        assertThat(policy.classify(new Exception(new IOException())))
                .as("a cause has no say")
                .isEqualTo(Failure.RETRYABLE);
        assertThat(DEFAULTS.classify(new TerminalException("t", null))).isEqualTo(Failure.TERMINAL);
        assertThat(DEFAULTS.classify(new IOException())).isEqualTo(Failure.RETRYABLE);
        assertThat(DEFAULTS.classify(new AssertionError())).isEqualTo(Failure.RETRYABLE);
    }

    @Test
    void timesThatNoDatabaseCouldWaitAreRefused() {
        assertThatThrownBy(() -> DEFAULTS.withBusyWait(ChronoUnit.FOREVER.getDuration()))
                .hasMessageContaining("between 0 and PT1H");
        assertThatThrownBy(() -> DEFAULTS.withHandlerTimeout(ChronoUnit.FOREVER.getDuration()))
                .hasMessageContaining("at most PT24H");
    }

    @Test
    void windowsThatForgetAtOnceOrNeverAreRefused() {
        for (Duration absurd :
                List.of(Duration.ZERO, Duration.ofDays(-1), Duration.ofSeconds(59), Duration.ofDays(36_501))) {
            assertThatThrownBy(() -> DEFAULTS.withWindow(absurd))
                    .hasMessageContaining("window is " + absurd)
                    .hasMessageContaining("withWindowForEver()");
            assertThatThrownBy(() -> DEFAULTS.withResultWindow(absurd))
                    .hasMessageContaining("resultWindow is " + absurd);
        }
        assertThatThrownBy(() -> DEFAULTS.withClockSkew(Duration.ofDays(2))).hasMessageContaining("clockSkew is PT48H");
        assertThat(DEFAULTS.withWindowForEver().window()).isEmpty();
    }

    @Test
    void aResultIsNotKeptLongerThanItsMarker() {
        assertThat(DEFAULTS.withWindow(Duration.ofHours(2)).resultWindow()).isEqualTo(Duration.ofHours(2));
        assertThatThrownBy(() -> DEFAULTS.withResultWindow(Duration.ofDays(8)))
                .hasMessageContaining("resultWindow is PT192H, but the window is only PT168H");
        assertThatThrownBy(() -> DEFAULTS.withResultWindow(Duration.ofDays(2)).withWindow(Duration.ofDays(1)))
                .hasMessageContaining("the window is only PT24H");
        assertThat(DEFAULTS.withWindowForEver()
                        .withResultWindow(Duration.ofDays(8))
                        .resultWindow())
                .isEqualTo(Duration.ofDays(8));
    }
}
