package dev.idem.bench.load;

import dev.idem.bench.contender.Contender;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Measures contenders in turn, round by round, each round in a new random order: what disturbs the machine for a while
 * then disturbs all of them, and ratios within a round survive it.
 */
public final class Rounds {
    private final Load load;
    private final int rounds;
    private final Duration time;
    private final Consumer<String> progress;

    public Rounds(Load load, int rounds, Duration time, Consumer<String> progress) {
        this.load = load;
        this.rounds = rounds;
        this.time = time;
        this.progress = progress;
    }

    /** Lets the compiler and the caches see everything once; nothing of it is kept. */
    public void warmUp(Workload workload, List<? extends Contender> contenders, Duration each) throws Exception {
        for (Contender contender : contenders) {
            progress.accept(workload.name() + ": warming up " + contender.name());
            load.measure(contender, workload, each);
        }
    }

    /** By contender, the measurements of all rounds in order. */
    public Map<String, List<Measurement>> run(Workload workload, List<? extends Contender> contenders)
            throws Exception {
        Map<String, Trial> trials = new LinkedHashMap<>();
        contenders.forEach(contender -> trials.put(contender.name(), () -> load.measure(contender, workload, time)));
        return run(workload, rounds, trials);
    }

    /** The same for whatever can be measured once in each round. */
    public Map<String, List<Measurement>> run(Workload workload, int times, Map<String, Trial> trials)
            throws Exception {
        Map<String, List<Measurement>> results = new HashMap<>();
        List<Map.Entry<String, Trial>> order = new ArrayList<>(trials.entrySet());
        for (int round = 1; round <= times; round++) {
            progress.accept(workload + ": round " + round + " of " + times);
            Collections.shuffle(order);
            for (Map.Entry<String, Trial> trial : order) {
                Measurement measured = trial.getValue().measure();
                results.computeIfAbsent(trial.getKey(), ignored -> new ArrayList<>())
                        .add(measured);
            }
        }
        return results;
    }

    /** One measurement of one contender. */
    @FunctionalInterface
    public interface Trial {
        Measurement measure() throws Exception;
    }
}
