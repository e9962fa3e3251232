package dev.idem.jdbc.internal.marker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.jdbc.internal.sql.Micros;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When what a process remembers of the horizon is enough, and when the row must be read. */
@Tag("quick")
class HorizonsTest {
    private static final Instant DECLARED = Instant.parse("2026-03-01T12:00:00Z");
    private static final Instant BOUND = DECLARED.minus(Duration.ofDays(2));
    private static final Horizons.Known KNOWN =
            new Horizons.Known(Micros.of(Duration.ofDays(8)), micros(BOUND), micros(DECLARED));

    @Test
    @DisplayName("a message younger than half the window and than the bound cannot be below the horizon")
    void youngMessagesNeedNoReading() {
        Instant claimed = DECLARED.plusSeconds(60);
        assertThat(KNOWN.excludes(claimed, claimed)).isTrue();
        assertThat(KNOWN.excludes(BOUND.plusNanos(1000), claimed)).isTrue();
        assertThat(KNOWN.excludes(BOUND, claimed))
                .as("a sweep that was running")
                .isFalse();
        Horizons.Known unswept = new Horizons.Known(KNOWN.window(), Micros.NEVER, KNOWN.at());
        Instant half = claimed.minus(Duration.ofDays(4));
        assertThat(unswept.excludes(half.plusNanos(1000), claimed)).isTrue();
        assertThat(unswept.excludes(half, claimed))
                .as("half a window for clocks")
                .isFalse();
    }

    @Test
    @DisplayName(
            "RP-01 after half a day without a declaration nothing is taken for granted: others may have a shorter window")
    void oldKnowledgeIsNotUsed() {
        Instant late = DECLARED.plus(Duration.ofHours(12));
        assertThat(KNOWN.excludes(late, late)).isTrue();
        assertThat(KNOWN.excludes(late.plusSeconds(1), late.plusSeconds(1))).isFalse();
        assertThat(KNOWN.excludes(late, Instant.EPOCH))
                .as("a claim that does not know its time")
                .isFalse();
    }

    @Test
    @DisplayName("with a window for ever only what was removed before counts")
    void forEver() {
        Horizons.Known forEver = new Horizons.Known(Micros.FOR_EVER, micros(BOUND), micros(DECLARED));
        assertThat(forEver.excludes(BOUND.plusNanos(1000), DECLARED)).isTrue();
        assertThat(forEver.excludes(BOUND, DECLARED)).isFalse();
    }

    private static long micros(Instant time) {
        return time.toEpochMilli() * 1000;
    }
}
