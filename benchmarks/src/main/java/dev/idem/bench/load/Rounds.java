package dev.idem.bench.load;

import dev.idem.bench.contender.Contender;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
        Map<String, List<Measurement>> results = new HashMap<>();
        contenders.forEach(contender -> results.put(contender.name(), new ArrayList<>()));
        List<Contender> order = new ArrayList<>(contenders);
        for (int round = 1; round <= rounds; round++) {
            progress.accept(workload + ": round " + round + " of " + rounds);
            Collections.shuffle(order);
            for (Contender contender : order) {
                Measurement measured = load.measure(contender, workload, time);
                Objects.requireNonNull(results.get(contender.name())).add(measured);
            }
        }
        return results;
    }
}
