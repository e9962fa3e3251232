package dev.idem.cli.torture;

import dev.idem.QueuePolicy;
import dev.idem.RetryPolicy;
import java.time.Duration;
import java.util.Locale;

/** The ways a queue can be worked off. The campaign runs a consumer of each at once. */
enum Mode {
    LOCAL(1, false, false),
    LEASED(2, true, false),
    LOCAL_ORDERED(3, false, true),
    LEASED_ORDERED(4, true, true);

    /** Pauses are longer than this, so that a paused worker has lost its messages when it wakes up. */
    static final Duration LEASE = Duration.ofSeconds(2);

    /** A message that only meets killed processes must never be taken for the one that kills them. */
    private static final int ATTEMPTS = 25;

    private static final int POISON_ATTEMPTS = 3;
    private static final int BATCH = 50;
    private static final Duration RETRY = Duration.ofMillis(20);

    private final int code;
    private final boolean leased;
    private final boolean ordered;

    Mode(int code, boolean leased, boolean ordered) {
        this.code = code;
        this.leased = leased;
        this.ordered = ordered;
    }

    /** What stands for it in the business tables. */
    int code() {
        return code;
    }

    boolean isOrdered() {
        return ordered;
    }

    boolean isLeased() {
        return leased;
    }

    String consumer() {
        return "torture-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    QueuePolicy policy() {
        QueuePolicy policy = (leased ? QueuePolicy.leased(LEASE) : QueuePolicy.inTransaction())
                .withWorkers(1)
                .withBatch(leased ? BATCH / 4 : BATCH)
                .withPoll(Duration.ofMillis(250))
                .withRetry(RetryPolicy.fixed(RETRY)
                        .withMaxAttempts(ATTEMPTS)
                        .on(Poisoned.class, RetryPolicy.fixed(RETRY).withMaxAttempts(POISON_ATTEMPTS)));
        return ordered ? policy.withOrderByKey() : policy;
    }

    /** What a handler throws that never succeeds. */
    static final class Poisoned extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Poisoned(Item item) {
            super("message " + item.number() + " never succeeds");
        }
    }
}
