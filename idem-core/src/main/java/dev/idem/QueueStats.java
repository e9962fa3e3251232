package dev.idem;

import java.time.Duration;
import java.util.Optional;

/**
 * How a queue stands at this moment. Counting stops at a limit, so that asking stays cheap however much waits.
 *
 * @param pending waits for a worker, or behind another of its key
 * @param oldestPending how long the oldest of those that a worker may take has waited since it was received
 * @param inProgress leased
 * @param stale leased, but the lease has run out
 * @param retryable failed, to be tried again
 * @param held waits behind another of its key, or for a version before it; part of pending
 * @param parked set aside until a person decides
 * @param atLeast whether a count has reached the limit, so that there may be more
 */
public record QueueStats(
        String consumer,
        long pending,
        Optional<Duration> oldestPending,
        long inProgress,
        long stale,
        long retryable,
        long held,
        long parked,
        boolean atLeast) {}
