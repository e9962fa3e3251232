package dev.idem.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class RatioTest {
    @Test
    void roundsAreComparedOneByOne() {
        // The machine was slow in the second round, for both: the ratio does not notice.
        Ratio ratio = Ratio.of(List.of(90.0, 9.0, 100.0), List.of(100.0, 10.0, 80.0));

        assertThat(ratio.median()).isEqualTo(0.9);
        assertThat(ratio.low()).isEqualTo(0.9);
        assertThat(ratio.high()).isEqualTo(1.25);
    }

    @Test
    void theMedianOfAnEvenNumberLiesBetween() {
        assertThat(Ratio.median(List.of(4.0, 1.0, 2.0, 8.0))).isEqualTo(3);
    }

    @Test
    void differentNumbersOfRoundsCannotBeCompared() {
        assertThatThrownBy(() -> Ratio.of(List.of(1.0), List.of(1.0, 2.0)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
