package dev.idem.internal.unit;

import dev.idem.StoreException;
import java.util.concurrent.ThreadLocalRandom;

/** Short pauses between the runs of one unit: exponential, fully jittered, bounded in number and length. */
public final class Backoff {
    private static final long FIRST_MILLIS = 10;
    private static final long LONGEST_MILLIS = 1_000;

    private final int maxRuns;
    private int runs = 1;

    public Backoff(int maxRuns) {
        this.maxRuns = maxRuns;
    }

    public boolean hasNext() {
        return runs < maxRuns;
    }

    /** Two units that undid each other must not meet again at the same moment, hence the full jitter. */
    public void pause() {
        long millis = millisAfter(runs);
        runs++;
        try {
            Thread.sleep(millis);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new StoreException("Interrupted while waiting to run a unit again; deliver the message again", stop);
        }
    }

    static long millisAfter(int runs) {
        long ceiling = Math.min(LONGEST_MILLIS, FIRST_MILLIS << Math.min(runs, 20));
        return ThreadLocalRandom.current().nextLong(ceiling) + 1;
    }
}
