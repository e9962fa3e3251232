package dev.idem.servers;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits for conditions outside this JVM, which can only be asked again and again. */
final class Waiting {
    private static final Duration STEP = Duration.ofMillis(10);

    private Waiting() {}

    static boolean until(Duration limit, BooleanSupplier condition) {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                return false;
            }
            shortly();
        }
        return true;
    }

    static void shortly() {
        try {
            Thread.sleep(STEP.toMillis());
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    static ServerException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new ServerException("Interrupted while waiting for a server", cause);
    }
}
