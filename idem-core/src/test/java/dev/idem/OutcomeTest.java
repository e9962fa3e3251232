package dev.idem;

import static dev.idem.Settlement.ACK;
import static dev.idem.Settlement.DEAD_LETTER;
import static dev.idem.Settlement.RETRY;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class OutcomeTest {
    private static final Instant NOW = Instant.EPOCH;

    @Test
    @DisplayName("PC-03 PC-13 each outcome has exactly the settlement of the design's table")
    void settlements() {
        Map<Outcome<String>, Settlement> table = new LinkedHashMap<>();
        table.put(new Outcome.Processed<>("r"), ACK);
        table.put(new Outcome.Duplicate<>(Outcome.Duplicate.State.DONE, NOW, Optional.empty()), ACK);
        table.put(new Outcome.Stored<>(), ACK);
        table.put(new Outcome.Stale<>(7), ACK);
        table.put(new Outcome.Held<>(OptionalLong.of(7), true), ACK);
        table.put(new Outcome.Held<>(OptionalLong.of(7), false), RETRY);
        table.put(new Outcome.Busy<>(), RETRY);
        table.put(new Outcome.Conflict<>(NOW), DEAD_LETTER);
        table.put(new Outcome.Undecidable<>(NOW), DEAD_LETTER);
        table.put(new Outcome.Rejected<>(Rejection.KEY_BLANK, "d"), DEAD_LETTER);
        table.put(new Outcome.Suppressed<>("r"), ACK);
        table.put(new Outcome.Failed<>(Failure.RETRYABLE, new Exception()), RETRY);
        table.put(new Outcome.Failed<>(Failure.TERMINAL, new Exception()), DEAD_LETTER);
        table.put(new Outcome.Failed<>(Failure.INFRASTRUCTURE, new Exception()), RETRY);

        table.forEach((outcome, settlement) ->
                assertThat(outcome.settlement()).as("%s", outcome).isEqualTo(settlement));
        assertThat(table.keySet().stream().map(Object::getClass).distinct())
                .as("no outcome is forgotten")
                .containsExactlyInAnyOrderElementsOf(Arrays.asList(Outcome.class.getPermittedSubclasses()));
    }
}
