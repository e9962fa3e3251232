package dev.idem.internal.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Observation;
import dev.idem.Outcome;
import dev.idem.Rejection;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ObserverTest {
    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
    private final Observer observer = new Observer(Clock.fixed(NOW, ZoneOffset.UTC));

    @Test
    void everyVerdictHasItsCounter() {
        for (int i = 0; i < 7; i++) {
            observer.delivered("billing");
        }
        assertThat(observer.stopped("billing", new Outcome.Processed<>("r"))).isFalse();
        assertThat(observer.stopped("billing", duplicate(Duration.ofSeconds(5))))
                .isTrue();
        assertThat(observer.stopped("billing", new Outcome.Conflict<>(NOW.minusSeconds(3600))))
                .isTrue();
        assertThat(observer.stopped("billing", new Outcome.Busy<>())).isTrue();
        assertThat(observer.stopped("billing", new Outcome.Undecidable<>(NOW))).isTrue();
        assertThat(observer.stopped("billing", new Outcome.Rejected<>(Rejection.UNDECIDABLE, "")))
                .isTrue();
        assertThat(observer.stopped("billing", new Outcome.Rejected<>(Rejection.KEY_MISSING, "")))
                .isTrue();

        Observation seen = observer.observations().get("billing");

        assertThat(seen.deliveries()).isEqualTo(7);
        assertThat(seen.duplicates()).isEqualTo(1);
        assertThat(seen.conflicts()).isEqualTo(1);
        assertThat(seen.busy()).isEqualTo(1);
        assertThat(seen.undecidable()).isEqualTo(2);
        assertThat(seen.unusableKeys()).isEqualTo(1);
        assertThat(seen.lags()).containsEntry(Duration.ofSeconds(10), 1L).containsEntry(Duration.ofHours(1), 1L);
        assertThat(seen.longestLag()).contains(Duration.ofHours(1));
    }

    @Test
    void aLagIsCountedInTheFirstClassThatHoldsIt() {
        observer.stopped("billing", duplicate(Duration.ofSeconds(-3))); // a clock that is behind the database's
        observer.stopped("billing", duplicate(Duration.ofSeconds(1)));
        observer.stopped("billing", duplicate(Duration.ofMillis(1001)));
        observer.stopped("billing", duplicate(Duration.ofDays(31)));

        Observation seen = observer.observations().get("billing");

        assertThat(seen.lags())
                .containsEntry(Duration.ofSeconds(1), 2L)
                .containsEntry(Duration.ofSeconds(10), 1L)
                .containsEntry(Observation.OPEN_END, 1L);
        assertThat(seen.toString())
                .contains("billing, observed for PT0S")
                .contains("would be duplicates      4")
                .contains("> PT720H")
                .endsWith("recommended window       62 days");
    }

    @Test
    void theRecommendedWindowIsTwiceTheLongestLagInWholeDays() {
        assertThat(recommended(Duration.ofDays(8), Duration.ofDays(5))).isEqualTo(Duration.ofDays(10));
        assertThat(recommended(Duration.ofDays(8), Duration.ofDays(5).plusSeconds(1)))
                .isEqualTo(Duration.ofDays(11));
        assertThat(recommended(Duration.ofDays(8), Duration.ofMinutes(1))).isEqualTo(Duration.ofDays(1));
        assertThat(recommended(Duration.ofDays(8), null)).isEqualTo(Duration.ofDays(1));
        assertThat(recommended(Duration.ofDays(6), Duration.ofMinutes(1)))
                .as("less than a week was seen")
                .isEqualTo(Duration.ofDays(7));
    }

    private static Duration recommended(Duration since, @org.jspecify.annotations.Nullable Duration lag) {
        return new Observation("c", since, 0, 0, 0, 0, 0, 0, new TreeMap<>(), Optional.ofNullable(lag))
                .recommendedWindow();
    }

    private static Outcome<String> duplicate(Duration lag) {
        return new Outcome.Duplicate<>(Outcome.Duplicate.State.DONE, NOW.minus(lag), Optional.empty());
    }
}
