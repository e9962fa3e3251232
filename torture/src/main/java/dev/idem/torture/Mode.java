package dev.idem.torture;

import dev.idem.RetryPolicy;
import dev.idem.queue.QueuePolicy;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** The ways a message can be handled. The campaign of the inbox runs a consumer of each queued one at once. */
enum Mode {
    LOCAL(1, false, false),
    LEASED(2, true, false),
    LOCAL_ORDERED(3, false, true),
    LEASED_ORDERED(4, true, true),
    /** Not stored: handled while the broker waits. */
    INLINE(5, false, false),
    INLINE_ORDERED(6, false, true),
    /** Leased, in steps with a call to a provider between them. */
    STEPS(7, true, false);

    /** Those with a queue in the database. */
    static final List<Mode> QUEUED = List.of(LOCAL, LEASED, LOCAL_ORDERED, LEASED_ORDERED, STEPS);

    /** Pauses are longer than this, so that a paused worker has lost its messages when it wakes up. */
    static final Duration LEASE = Duration.ofSeconds(2);

    static final Duration RETRY = Duration.ofMillis(20);

    /** A message that only meets killed processes must never be taken for the one that kills them. */
    private static final int ATTEMPTS = 25;

    private static final int POISON_ATTEMPTS = 3;
    private static final int BATCH = 50;

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

    boolean isInSteps() {
        return this == STEPS;
    }

    /** Leases are for long work, and while a broker waits, long work is what kills and pauses hit. */
    boolean takesTime() {
        return leased || !QUEUED.contains(this);
    }

    String consumer() {
        return "torture-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    QueuePolicy policy() {
        QueuePolicy policy = (leased ? QueuePolicy.leased(LEASE) : QueuePolicy.inTransaction())
                .withWorkers(1)
                .withBatch(leased ? BATCH / 4 : BATCH)
                .withPoll(Duration.ofMillis(250))
                .withRetry(
                        retry(RETRY).on(Poisoned.class, RetryPolicy.fixed(RETRY).withMaxAttempts(POISON_ATTEMPTS)));
        return ordered ? policy.withOrderByKey() : policy;
    }

    /** As often as it takes in a campaign. */
    static RetryPolicy retry(Duration delay) {
        return RetryPolicy.fixed(delay).withMaxAttempts(ATTEMPTS);
    }

    /** What a handler throws that never succeeds. */
    static final class Poisoned extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Poisoned(Item item) {
            super("message " + item.number() + " never succeeds");
        }
    }
}
