package dev.idem.internal.unit;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How many messages of a consumer a transaction should have at most, because a store isolates only so many handlers from
 * each other at little cost. Learned from the store when a transaction was full: handlers that only defer statements, and
 * batch handlers, need little isolation and never fill one. Thread-safe.
 */
public final class BatchSizeLimit {
    private final Map<String, Integer> limits = new ConcurrentHashMap<>();

    public void full(String consumer, int handled) {
        limits.merge(consumer, Math.max(1, handled), Math::min);
    }

    public int limit(String consumer) {
        return limits.getOrDefault(consumer, Integer.MAX_VALUE);
    }
}
