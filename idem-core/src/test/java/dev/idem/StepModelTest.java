package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Explores every interleaving of two workers, expiring leases, crashes and lost answers, see {@link StepModel}. */
class StepModelTest {
    /** How often the message may be leased; each one more makes seven times as many states. */
    private static final int RUNS = 3;

    @Test
    @DisplayName(
            "LS-01 LS-11 HX-14 in no interleaving is a step applied twice, a card charged twice, or too much called done")
    void theProtocolHolds() {
        int states = 0;
        for (StepModel.Rule rule : StepModel.Rule.values()) {
            StepModel.Found found = new StepModel(rule, StepModel.Bug.NONE, RUNS).explore();
            assertThat(found.completed()).isPositive();
            assertThat(found.parked() > 0).isEqualTo(rule == StepModel.Rule.PARK);
            states += found.states();
        }
        assertThat(states).isGreaterThan(100_000);
    }

    @ParameterizedTest
    @EnumSource(value = StepModel.Bug.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void everyPlantedMistakeIsFound(StepModel.Bug bug) {
        assertThatThrownBy(() -> {
                    for (StepModel.Rule rule : StepModel.Rule.values()) {
                        new StepModel(rule, bug, RUNS).explore();
                    }
                })
                .as("%s", bug)
                .isInstanceOf(StepModel.Violation.class);
    }
}
