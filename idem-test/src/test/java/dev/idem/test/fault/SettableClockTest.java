package dev.idem.test.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SettableClockTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final SettableClock clock = SettableClock.at(NOON);

    @Test
    void standsStillUntilToldToMove() {
        assertThat(clock.instant()).isEqualTo(NOON).isEqualTo(clock.instant());
        assertThat(clock.millis()).isEqualTo(NOON.toEpochMilli());
        assertThat(clock.getZone()).isEqualTo(ZoneOffset.UTC);

        assertThat(clock.advance(Duration.ofSeconds(5))).isEqualTo(NOON.plusSeconds(5));
        assertThat(clock.instant()).isEqualTo(NOON.plusSeconds(5));
    }

    @Test
    void goesBackOnlyWhenSet() {
        assertThatIllegalArgumentException().isThrownBy(() -> clock.advance(Duration.ofNanos(-1)));
        clock.set(NOON.minusSeconds(60));
        assertThat(clock.instant()).isEqualTo(NOON.minusSeconds(60));
    }

    @Test
    void showsTheSameTimeInEveryZone() {
        Clock tokyo = clock.withZone(ZoneId.of("Asia/Tokyo"));
        clock.advance(Duration.ofDays(1));
        assertThat(tokyo.instant()).isEqualTo(clock.instant());
        assertThat(tokyo.getZone()).isEqualTo(ZoneId.of("Asia/Tokyo"));
    }

    @Test
    void losesNoStepOfManyThreads() {
        IntStream.range(0, 10_000).parallel().forEach(i -> clock.advance(Duration.ofSeconds(1)));
        assertThat(clock.instant()).isEqualTo(NOON.plusSeconds(10_000));
    }
}
