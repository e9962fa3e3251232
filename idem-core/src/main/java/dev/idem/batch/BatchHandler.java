package dev.idem.batch;

import java.util.List;

/**
 * Handles many messages of one type in one call, with set-based statements: the fastest way. All of them share the
 * transaction; when it throws, everything it wrote is undone and it is called again with parts of the list, until only
 * the guilty messages have failed. So it keeps no state from one call to the next, and must be thread-safe.
 *
 * @param <E> the decoded payload
 */
@FunctionalInterface
public interface BatchHandler<E> {
    /** The events in the order of delivery; {@code events.get(i)} is the payload of {@code tx.messages().get(i)}. */
    void handleAll(List<E> events, BatchTransaction tx) throws Exception;
}
