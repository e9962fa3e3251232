package dev.idem.internal.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.StoreException;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class BackoffTest {

    @Test
    void thereAreAsManyRunsAsAllowed() {
        Backoff backoff = new Backoff(3);
        assertThat(backoff.hasNext()).isTrue();
        backoff.pause();
        assertThat(backoff.hasNext()).isTrue();
        backoff.pause();
        assertThat(backoff.hasNext()).isFalse();
        assertThat(new Backoff(1).hasNext()).isFalse();
    }

    @Test
    @DisplayName("RO-05 the pause grows, is bounded, and saturates for any number of runs")
    void bounds() {
        int[] runs = {1, 2, 3, 6, 7, 20, 21, 31, 32, 63, 64, Integer.MAX_VALUE};
        int[] longest = {20, 40, 80, 640, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000};
        for (int i = 0; i < runs.length; i++) {
            for (int n = 0; n < 2_000; n++) {
                assertThat(Backoff.millisAfter(runs[i])).isBetween(1L, (long) longest[i]);
            }
        }
    }

    @Test
    @DisplayName("RO-03 the jitter uses the whole range")
    void jitter() {
        Set<Long> pauses = new HashSet<>();
        for (int n = 0; n < 20_000; n++) {
            pauses.add(Backoff.millisAfter(1));
        }
        assertThat(pauses).hasSize(20);
    }

    @Test
    @DisplayName("HX-03 an interrupt ends the pause, keeps the flag and says that the message must come again")
    void interrupt() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> new Backoff(5).pause())
                .isInstanceOf(StoreException.class)
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isTrue();
    }
}
