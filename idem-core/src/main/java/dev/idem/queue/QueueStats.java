package dev.idem.queue;

import java.time.Duration;
import java.util.Optional;

/**
 * How a queue stands at this moment. Counting stops at a limit, so that asking stays cheap however much waits. Each message is in
 * one of {@code pending}, {@code held}, {@code inProgress} and {@code parked}.
 *
 * @param pending waits for a worker, now or until its next attempt is due
 * @param oldestPending how long the oldest of the {@code pending} has waited since it was received, however often it has
 *     failed since. Exact as long as fewer than 10,000 wait for a later time; of more, these are looked at: the first 10,000
 *     that become due, and on PostgreSQL the oldest of all that have failed, elsewhere the 10,000 oldest rows of the queue
 * @param inProgress leased
 * @param stale leased, but the lease has run out
 * @param retryable failed, to be tried again; part of pending
 * @param held waits behind another of its key, or for a version before it; not part of pending, for no worker may take it
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
