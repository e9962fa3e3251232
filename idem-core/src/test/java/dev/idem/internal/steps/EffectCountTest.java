package dev.idem.internal.steps;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.replay.EffectForecast;
import dev.idem.spi.StepRecord.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class EffectCountTest {
    private static EffectCount none() {
        return new EffectCount(List.of());
    }

    @Test
    void aMessageThatIsDoneAsksForWhatTheLedgerHas() {
        EffectCount count = none();
        count.runs(Map.of("charge", State.DONE), true);
        count.runs(Map.of(), true);
        assertThat(count.forecasts())
                .containsExactly(new EffectForecast(EffectForecast.Kind.EFFECT, "charge", 1, 0, 0));
    }

    @Test
    void anyOtherMayAskForEverythingAlsoForWhatIsMetLater() {
        EffectCount count = none();
        count.runs(Map.of(), false);
        count.runs(Map.of("charge", State.UNKNOWN), false);
        count.runs(Map.of("mail", State.DONE), true);
        count.mayBe(List.of("fax"));
        assertThat(count.forecasts())
                .containsExactly(
                        new EffectForecast(EffectForecast.Kind.EFFECT, "charge", 0, 1, 1),
                        new EffectForecast(EffectForecast.Kind.EFFECT, "fax", 0, 0, 2),
                        new EffectForecast(EffectForecast.Kind.EFFECT, "mail", 1, 0, 2),
                        new EffectForecast(EffectForecast.Kind.OTHERS, "others", 0, 0, 2));
    }

    @Test
    void handlersThatMakeUpNamesDoNotFillTheRow() {
        EffectCount count = none();
        for (int i = 0; i < 1_000; i++) {
            count.runs(Map.of("mail-" + i, State.DONE), true);
        }
        assertThat(count.forecasts())
                .hasSize(101)
                .contains(new EffectForecast(EffectForecast.Kind.OTHERS, "others", 900, 0, 0));
    }

    @Test
    void itGoesOnWhereverItWasInterrupted() {
        Random random = new Random(7);
        List<Consumer<EffectCount>> messages = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            boolean done = random.nextBoolean();
            Map<String, State> ledger = random.nextInt(3) == 0
                    ? Map.of()
                    : Map.of("e" + random.nextInt(150), State.values()[random.nextInt(State.values().length)]);
            messages.add(count -> {
                count.runs(ledger, done);
                count.publishes("notes");
            });
        }
        EffectCount whole = none();
        EffectCount inParts = none();
        for (Consumer<EffectCount> message : messages) {
            message.accept(whole);
            message.accept(inParts);
            inParts = new EffectCount(inParts.forecasts());
        }
        assertThat(inParts.forecasts()).isEqualTo(whole.forecasts());
    }
}
