package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RetryPolicyTest {
    private static final Exception FAILURE = new IllegalStateException();

    @Test
    @DisplayName("RO-03 delays grow up to the cap, and are spread over all of it")
    void growsAndSpreads() {
        RetryPolicy policy = RetryPolicy.exponential(Duration.ofSeconds(1), Duration.ofSeconds(60));
        for (int failures = 1; failures < 12; failures++) {
            Duration longest = Duration.ofSeconds(Math.min(60, 1L << (failures - 1)));
            Set<Long> buckets = new HashSet<>();
            for (int i = 0; i < 400; i++) {
                Duration delay = policy.delay(failures, FAILURE);
                assertThat(delay).isBetween(Duration.ZERO, longest);
                buckets.add(delay.toNanos() * 8 / (longest.toNanos() + 1));
            }
            assertThat(buckets).as("eighths of %s", longest).hasSize(8);
        }
    }

    @Test
    @DisplayName("RO-05 no number of failures makes a delay overflow")
    void saturates() {
        Duration cap = Duration.ofDays(300);
        RetryPolicy policy = RetryPolicy.exponential(Duration.ofMillis(1), cap);
        for (int failures : new int[] {0, 1, 30, 31, 62, 63, 64, 65, 1_000, Integer.MAX_VALUE}) {
            assertThat(policy.delay(failures, FAILURE)).isBetween(Duration.ZERO, cap);
        }
        assertThat(RetryPolicy.exponential(Duration.ZERO, Duration.ZERO).delay(5, FAILURE))
                .isZero();
    }

    @Test
    @DisplayName("LS-07 wrong lengths are refused, and what a rule of the user's answers is bounded")
    void boundaries() {
        assertThatThrownBy(() -> RetryPolicy.fixed(Duration.ofMillis(-1))).hasMessageContaining("between 0 and");
        assertThatThrownBy(() -> RetryPolicy.exponential(Duration.ofSeconds(2), Duration.ofSeconds(1)))
                .hasMessageContaining("the cap only PT1S");
        assertThatThrownBy(() -> RetryPolicy.fixed(Duration.ZERO).withMaxAttempts(0))
                .hasMessageContaining("at least 1");
        assertThat(RetryPolicy.custom((n, f) -> Duration.ofSeconds(-5)).delay(1, FAILURE))
                .isZero();
        assertThat(RetryPolicy.custom((n, f) -> Duration.ofSeconds(Long.MAX_VALUE))
                        .delay(1, FAILURE))
                .isEqualTo(Duration.ofDays(365));
        assertThat(RetryPolicy.custom((n, f) -> {
                            throw new IllegalStateException("broken rule");
                        })
                        .delay(1, FAILURE))
                .isZero();
    }

    @Test
    void theFirstRuleThatFitsDecides() {
        RetryPolicy rare = RetryPolicy.fixed(Duration.ofMinutes(1)).withMaxAttempts(2);
        RetryPolicy policy = RetryPolicy.fixed(Duration.ofSeconds(1))
                .on(IllegalStateException.class, rare)
                .on(RuntimeException.class, RetryPolicy.fixed(Duration.ofHours(1)));
        assertThat(policy.forFailure(FAILURE).maxAttempts()).isEqualTo(2);
        assertThat(policy.forFailure(new IllegalArgumentException()).delay(1, FAILURE))
                .isEqualTo(Duration.ofHours(1));
        assertThat(policy.forFailure(new Exception()).delay(1, FAILURE)).isEqualTo(Duration.ofSeconds(1));
    }
}
