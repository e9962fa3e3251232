package dev.idem.test.fault;

import static java.util.Objects.requireNonNull;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * Fires every fault at every JDBC call of a scenario and checks after each that nothing was lost or doubled.
 *
 * <pre>{@code
 * NthCallSweep.Summary summary = NthCallSweep.over(faulty)
 *         .reset(() -> truncateTables())
 *         .deliver(() -> inbox.accept(consumer, message).settlement() == ACK)
 *         .recover(() -> redeliverUntilAcknowledged())
 *         .check(() -> assertThat(effects()).isEqualTo(1))
 *         .sweep();
 * }</pre>
 *
 * <p>A first run without a fault counts the calls. Then, for each fault kind and n = 1, 2, …: reset, arm the n-th call,
 * run, disarm, recover, check; until a run ends before its n-th call, also if that is later than in the first run. The
 * first violation ends the sweep with an {@link AssertionError} that names the fault, n and the call.
 *
 * <p>In a faulty run the scenario may throw what the fault caused: any exception, or an error with an {@link
 * InjectedError} among its causes. An exception without a fault, another error, or a recovery that throws is a
 * violation. State is reset and checked best through the real data source, so that this does not count.
 *
 * <p>Not thread-safe; the scenario itself may use threads if its calls come in a stable order.
 */
public final class NthCallSweep {
    /** One part of the scenario. */
    @FunctionalInterface
    public interface Step {
        /** Does it, or throws. */
        void run() throws Exception;
    }

    /**
     * What a sweep has done.
     *
     * @param calls the counted calls of the run without a fault
     * @param cases the runs with an armed fault, among them one per kind that ended before its fault could fire
     * @param fired how often each kind fired
     */
    public record Summary(int calls, int cases, Map<Fault, Integer> fired) {
        /** Copies the map. */
        public Summary {
            fired = Map.copyOf(fired);
        }

        /** How many faults fired, of all kinds. */
        public int faultsFired() {
            return fired.values().stream().mapToInt(Integer::intValue).sum();
        }
    }

    private static final int MOST_CALLS = 10_000;

    private final FaultyDataSource dataSource;
    private List<Fault> faults = List.of(Fault.values());
    private int first = 1;
    private int stride = 1;
    private Step reset = () -> {};
    private Callable<Boolean> delivery = () -> false;
    private Step recover = () -> {};
    private Step check = () -> {};

    private NthCallSweep(FaultyDataSource dataSource) {
        this.dataSource = requireNonNull(dataSource, "dataSource");
    }

    /** A sweep over the calls made through the given data source. */
    public static NthCallSweep over(FaultyDataSource dataSource) {
        return new NthCallSweep(dataSource);
    }

    /** The kinds to fire; all, unless told otherwise. */
    public NthCallSweep faults(Fault... kinds) {
        faults = List.of(kinds);
        return this;
    }

    /**
     * Fires only at the given call and at each {@code stride}-th after it, where all calls take too long for every build.
     * Begin at another call each time, from 1 to {@code stride}, and print which.
     */
    public NthCallSweep every(int stride, int first) {
        if (stride < 1 || first < 1 || first > stride) {
            throw new IllegalArgumentException("first " + first + " is not between 1 and the stride, " + stride);
        }
        this.stride = stride;
        this.first = first;
        return this;
    }

    /** Brings the state back to the beginning, before every run. */
    public NthCallSweep reset(Step step) {
        reset = requireNonNull(step, "reset");
        return this;
    }

    /** The scenario under fault. It may throw when a fault fires; the check comes after the recovery. */
    public NthCallSweep run(Step step) {
        requireNonNull(step, "run");
        return deliver(() -> {
            step.run();
            return false;
        });
    }

    /**
     * The scenario under fault, as a broker sees it: true means acknowledged. A broker forgets an acknowledged message,
     * so the check must hold at once, before the recovery and again after it; otherwise a redelivery would hide a lost
     * effect.
     */
    public NthCallSweep deliver(Callable<Boolean> acknowledged) {
        delivery = requireNonNull(acknowledged, "deliver");
        return this;
    }

    /** What happens after the fault, without one: as a rule the redelivery. Must not throw. */
    public NthCallSweep recover(Step step) {
        recover = requireNonNull(step, "recover");
        return this;
    }

    /** What must hold at the end of every run; throws if it does not. */
    public NthCallSweep check(Step step) {
        check = requireNonNull(step, "check");
        return this;
    }

    /**
     * Runs all cases.
     *
     * @throws AssertionError at the first violation
     */
    public Summary sweep() {
        var clean = new SweepCase(dataSource, null, 0);
        int calls = clean.play(reset, delivery, recover, check);
        if (calls == 0) {
            throw new AssertionError("The scenario made no call through the faulty data source, so nothing was tested");
        }
        int cases = 0;
        Map<Fault, Integer> fired = new EnumMap<>(Fault.class);
        for (Fault fault : faults) {
            boolean more = true;
            for (int n = first; more; n += stride) {
                if (n > MOST_CALLS) {
                    throw new AssertionError(
                            fault + " still fires at call " + MOST_CALLS + ": the scenario never ends");
                }
                var next = new SweepCase(dataSource, fault, n);
                next.play(reset, delivery, recover, check);
                cases++;
                if (next.fired()) {
                    fired.merge(fault, 1, Integer::sum);
                }
                more = next.fired() || n < calls;
            }
        }
        return new Summary(calls, cases, fired);
    }
}
