package dev.idem;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * When a message whose handler failed is tried again, and how often. Immutable and thread-safe.
 *
 * <pre>{@code
 * RetryPolicy.exponential(Duration.ofSeconds(1), Duration.ofMinutes(10)).withMaxAttempts(10)
 *         .on(RateLimited.class, RetryPolicy.fixed(Duration.ofMinutes(1)))
 * }</pre>
 *
 * <p>Only failures of the handler count. What the database or the network did to it does not, however often.
 */
public final class RetryPolicy {
    private static final int DEFAULT_ATTEMPTS = 10;
    private static final Duration LONGEST = Duration.ofDays(365);

    private final Delay delay;
    private final int maxAttempts;
    private final List<Rule> rules;

    private RetryPolicy(Delay delay, int maxAttempts, List<Rule> rules) {
        this.delay = Objects.requireNonNull(delay, "delay");
        this.maxAttempts = maxAttempts;
        this.rules = List.copyOf(rules);
    }

    /** Twice as long after each failure, up to a cap, and then anything between zero and that: nobody retries in step. */
    public static RetryPolicy exponential(Duration first, Duration cap) {
        Duration shortest = checked("first", first);
        Duration longest = checked("cap", cap);
        if (shortest.compareTo(longest) > 0) {
            throw new IllegalArgumentException("the first delay is " + first + ", but the cap only " + cap);
        }
        return custom((failures, failure) -> jittered(doubled(shortest, longest, failures)));
    }

    /** Always the same delay. */
    public static RetryPolicy fixed(Duration delay) {
        Duration always = checked("delay", delay);
        return custom((failures, failure) -> always);
    }

    /** Whatever you say. What it throws, or a negative answer, counts as no delay. */
    public static RetryPolicy custom(Delay delay) {
        return new RetryPolicy(delay, DEFAULT_ATTEMPTS, List.of());
    }

    /** How often a message is tried before it is set aside; default 10. */
    public RetryPolicy withMaxAttempts(int attempts) {
        if (attempts < 1) {
            throw new IllegalArgumentException("maxAttempts is " + attempts + ", but must be at least 1");
        }
        return new RetryPolicy(delay, attempts, rules);
    }

    /** For exceptions of this type, another policy; the first rule that fits is taken. */
    public RetryPolicy on(Class<? extends Throwable> type, RetryPolicy other) {
        List<Rule> more = new ArrayList<>(rules);
        more.add(new Rule(Objects.requireNonNull(type, "type"), Objects.requireNonNull(other, "other")));
        return new RetryPolicy(delay, maxAttempts, more);
    }

    public int maxAttempts() {
        return maxAttempts;
    }

    /**
     * How long to wait before the next try, after so many failures of which this was the last; empty if there is none.
     */
    public Optional<Duration> next(int failures, Throwable failure) {
        RetryPolicy policy = forFailure(failure);
        return failures >= policy.maxAttempts ? Optional.empty() : Optional.of(policy.delay(failures, failure));
    }

    /** The policy for this failure. */
    public RetryPolicy forFailure(Throwable failure) {
        for (Rule rule : rules) {
            if (rule.type.isInstance(failure)) {
                return rule.policy;
            }
        }
        return this;
    }

    /** How long to wait after so many failures, the last of which was this one. */
    public Duration delay(int failures, Throwable failure) {
        try {
            Duration wanted = delay.after(failures, failure);
            return wanted.isNegative() ? Duration.ZERO : wanted.compareTo(LONGEST) > 0 ? LONGEST : wanted;
        } catch (Throwable broken) { // whatever it is, the failure that it was asked about is to be recorded
            return Duration.ZERO;
        }
    }

    /** Saturates: however many failures there were, it never passes the cap. */
    private static Duration doubled(Duration first, Duration cap, int failures) {
        int doublings = Math.max(0, failures - 1);
        if (doublings >= Long.numberOfLeadingZeros(Math.max(1, first.toNanos())) - 1) {
            return cap;
        }
        Duration grown = Duration.ofNanos(first.toNanos() << doublings);
        return grown.compareTo(cap) > 0 ? cap : grown;
    }

    private static Duration jittered(Duration longest) {
        return longest.isZero()
                ? longest
                : Duration.ofNanos(ThreadLocalRandom.current().nextLong(longest.toNanos() + 1));
    }

    private static Duration checked(String name, Duration value) {
        if (value.isNegative() || value.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(name + " is " + value + ", but must be between 0 and " + LONGEST);
        }
        return value;
    }

    /** Says how long to wait. */
    @FunctionalInterface
    public interface Delay {
        /** How long to wait after so many failures, at least 1, the last of which was this one. */
        Duration after(int failures, Throwable failure);
    }

    private record Rule(Class<? extends Throwable> type, RetryPolicy policy) {}
}
