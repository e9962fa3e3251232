package dev.idem.test.fault;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** One run of a sweep: with one fault at one call, or clean. */
final class SweepCase {
    private final FaultyDataSource dataSource;
    private final @Nullable Fault fault;
    private final int nth;
    private boolean fired;
    private List<String> trace = List.of();

    SweepCase(FaultyDataSource dataSource, @Nullable Fault fault, int nth) {
        this.dataSource = dataSource;
        this.fault = fault;
        this.nth = nth;
    }

    boolean fired() {
        return fired;
    }

    /** Returns the number of calls the delivery made. */
    int play(NthCallSweep.Step reset, Callable<Boolean> delivery, NthCallSweep.Step recover, NthCallSweep.Step check) {
        step("reset", reset);
        if (fault == null) {
            dataSource.reset();
        } else {
            dataSource.arm(nth, fault);
        }
        boolean acknowledged = false;
        Throwable failure = null;
        try {
            acknowledged = delivery.call();
        } catch (Throwable thrown) {
            failure = thrown;
        }
        dataSource.disarm();
        fired = dataSource.fired();
        trace = dataSource.trace();
        int calls = dataSource.calls();
        if (failure != null && !excused(failure)) {
            throw violation("run", failure);
        }
        if (acknowledged) {
            step("check before recovery", check);
        }
        step("recover", recover);
        step("check", check);
        return calls;
    }

    private boolean excused(Throwable failure) {
        return fired && (failure instanceof Exception || causedByInjection(failure));
    }

    private static boolean causedByInjection(Throwable failure) {
        Throwable cause = failure;
        // Causes may form a ring, so do not follow them for ever.
        for (int depth = 0; cause != null && depth < 50; depth++) {
            if (cause instanceof InjectedError) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }

    private void step(String name, NthCallSweep.Step step) {
        try {
            step.run();
        } catch (Throwable failure) {
            throw violation(name, failure);
        }
    }

    private AssertionError violation(String step, Throwable failure) {
        if (failure instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        return new AssertionError("%s: %s failed: %s%n%s".formatted(where(), step, failure, numberedTrace()), failure);
    }

    private String where() {
        if (fault == null) {
            return "Without a fault";
        }
        String call = nth <= trace.size() ? trace.get(nth - 1) : fired ? "not traced" : "not reached";
        return "%s at call %d (%s)".formatted(fault, nth, call);
    }

    private String numberedTrace() {
        return IntStream.range(0, trace.size())
                .mapToObj(i -> "%s %d %s".formatted(fired && i == nth - 1 ? ">" : " ", i + 1, trace.get(i)))
                .collect(Collectors.joining(System.lineSeparator()));
    }
}
