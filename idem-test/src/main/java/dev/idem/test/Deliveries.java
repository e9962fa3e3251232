package dev.idem.test;

import dev.idem.spi.FaultPoint;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Messages to be delivered by an {@link IdempotencyTest}: choose a scenario and demand that it {@link
 * Trial#matchesOneCleanDelivery}, or {@link #check} them all. Not thread-safe.
 */
public final class Deliveries {
    private final Setting setting;
    private final Stage stage;
    private @Nullable Contents clean;

    Deliveries(Setting setting, Stage stage) {
        this.setting = setting;
        this.stage = stage;
    }

    /** Each message twice. */
    public Trial twice() {
        return times(2);
    }

    /** Each message so many times. */
    public Trial times(int count) {
        return trial(Scenario.times(count));
    }

    /** All messages, a restart, and all messages once more. */
    public Trial allAgain() {
        return trial(Scenario.allAgain());
    }

    /** Each message so many times at the same moment, to two processes. */
    public Trial concurrently(int twins) {
        return trial(Scenario.concurrently(twins));
    }

    /** A crash at that step of each message in turn, a restart, and redelivery. */
    public Trial crashingAt(FaultPoint step) {
        return new Trial(any -> crashes(step));
    }

    /** A crash at every step of each message in turn, a restart, and redelivery. */
    public Trial crashingEverywhere() {
        return new Trial(any ->
                Scenario.STEPS.stream().flatMap(step -> crashes(step).stream()).toList());
    }

    /** The connection is lost before and after every JDBC call of store and handlers, the commit among them. */
    public Trial losingConnections() {
        return new Trial(Scenario::lostConnections);
    }

    /** Each statement of the handlers fails once: a handler that swallows the error loses its effect. */
    public Trial failingStatements() {
        return new Trial(Scenario::failingStatements);
    }

    /** The first run is undone by a deadlock, and the handler runs again in the same delivery. */
    public Trial undoneOnce() {
        return trial(Scenario.undone());
    }

    /**
     * Runs every scenario, and reports everything that is wrong at once; or prints how many ran, if nothing is.
     *
     * @throws AssertionError naming scenarios, tables and rows
     */
    public void check() {
        Verdicts verdicts = new Verdicts();
        everything(verdicts);
        verdicts.conclude();
    }

    private void everything(Verdicts verdicts) {
        List<Trial> trials = List.of(
                twice(),
                times(10),
                allAgain(),
                undoneOnce(),
                crashingEverywhere(),
                concurrently(2),
                concurrently(8),
                failingStatements(),
                losingConnections());
        for (Trial trial : trials) {
            trial.run(verdicts);
        }
    }

    private List<Scenario> crashes(FaultPoint step) {
        List<Scenario> scenarios = new ArrayList<>();
        for (int message = 0; message < stage.messages(); message++) {
            scenarios.add(Scenario.crashingAt(step, message));
        }
        return scenarios;
    }

    private Trial trial(Scenario scenario) {
        return new Trial(any -> List.of(scenario));
    }

    /** What one clean delivery leaves; found once, and checked to be good for a comparison. */
    private Contents clean(Verdicts verdicts) {
        if (clean == null) {
            clean = new Baseline(setting, stage).contents(verdicts);
        }
        return clean;
    }

    /** A scenario, or several of a kind, still to be run. */
    public final class Trial {
        private final Function<Stage, List<Scenario>> scenarios;

        private Trial(Function<Stage, List<Scenario>> scenarios) {
            this.scenarios = scenarios;
        }

        /**
         * Runs it, and prints how many scenarios ran.
         *
         * @throws AssertionError naming scenarios, tables and rows
         */
        public void matchesOneCleanDelivery() {
            Verdicts verdicts = new Verdicts();
            run(verdicts);
            verdicts.conclude();
        }

        private void run(Verdicts verdicts) {
            Contents expected = clean(verdicts);
            setting.begin();
            for (Scenario scenario : scenarios.apply(stage)) {
                verdicts.add(scenario.name(), outcome(scenario, expected));
            }
        }

        private List<String> outcome(Scenario scenario, Contents expected) {
            setting.begin();
            try {
                scenario.play().on(stage);
            } catch (Exception failure) {
                return List.of(String.valueOf(failure.getMessage()));
            }
            return setting.contents().differencesFrom(expected);
        }
    }
}
