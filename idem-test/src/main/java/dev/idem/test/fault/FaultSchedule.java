package dev.idem.test.fault;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Counts calls and says when the armed fault fires. Thread-safe: of concurrent calls exactly one is the n-th. */
final class FaultSchedule {
    /** A data source that nobody resets must not fill the memory. */
    private static final int TRACE_LIMIT = 10_000;

    private static final int CALL_LIMIT = 300;

    private final List<String> trace = new ArrayList<>();
    private int calls;
    private boolean fired;
    private @Nullable Armed armed;

    private record Armed(int nth, Fault fault, @Nullable Supplier<? extends SQLException> failure) {}

    synchronized void arm(int nth, Fault fault, @Nullable Supplier<? extends SQLException> failure) {
        reset();
        armed = new Armed(nth, fault, failure);
    }

    synchronized void disarm() {
        armed = null;
    }

    synchronized void reset() {
        armed = null;
        fired = false;
        calls = 0;
        trace.clear();
    }

    /** Counts the call and returns the fault to let it suffer, if any. */
    synchronized @Nullable Strike next(String call) {
        String line = shorten(call);
        calls++;
        if (trace.size() < TRACE_LIMIT) {
            trace.add(line);
        }
        Armed waiting = armed;
        if (waiting == null || waiting.nth() != calls) {
            return null;
        }
        armed = null;
        fired = true;
        return new Strike(waiting.fault(), calls, line, waiting.failure());
    }

    synchronized int calls() {
        return calls;
    }

    synchronized boolean fired() {
        return fired;
    }

    synchronized List<String> trace() {
        return List.copyOf(trace);
    }

    private static String shorten(String call) {
        String line = call.strip().replaceAll("\\s+", " ");
        return line.length() <= CALL_LIMIT ? line : line.substring(0, CALL_LIMIT) + "…";
    }
}
