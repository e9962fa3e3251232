package dev.idem.test.fault;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** Waits for a condition, with a limit. */
final class Await {
    static final Duration LIMIT = Duration.ofSeconds(20);

    private Await() {}

    static void until(String what, Callable<Boolean> condition) throws Exception {
        long start = System.nanoTime();
        while (!condition.call()) {
            if (System.nanoTime() - start > LIMIT.toNanos()) {
                throw new AssertionError("Not within " + LIMIT + ": " + what);
            }
            LockSupport.parkNanos(2_000_000);
        }
    }
}
