package dev.idem.bench.load;

import dev.idem.bench.contender.Contender;
import dev.idem.bench.contender.Delivery;
import java.util.Arrays;
import java.util.List;

/** What one thread got done. Not thread-safe. */
final class Tally {
    private static final double NANOS = 1e9;

    private long[] nanos = new long[1_024];
    private int calls;
    private long deliveries;
    private long payments;
    private long elapsed;

    /** Counts what the contender must have paid, and not its time. */
    void expect(List<Delivery> batch, Contender contender) {
        payments += batch.stream()
                .filter(delivery -> delivery.fresh() || !contender.recognisesDuplicates())
                .filter(delivery -> !delivery.failing())
                .count();
    }

    void time(long taken, int batch) {
        if (calls == nanos.length) {
            nanos = Arrays.copyOf(nanos, calls * 2);
        }
        nanos[calls++] = taken;
        deliveries += batch;
    }

    void end(long taken) {
        elapsed = taken;
    }

    long payments() {
        return payments;
    }

    /** Of each thread by its own clock, because a batch that began before the end is finished after it. */
    double perSecond() {
        return deliveries * NANOS / elapsed;
    }

    long[] latencies() {
        return Arrays.copyOf(nanos, calls);
    }
}
