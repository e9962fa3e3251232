package dev.idem;

import org.jspecify.annotations.Nullable;

/**
 * Handles the messages of one type and version for a {@link Consumer}. May be called again for the same delivery after a
 * deadlock or a lost connection, so it keeps no state from one call to the next. Must be thread-safe.
 *
 * @param <E> the decoded payload
 * @param <T> what it returns
 */
@FunctionalInterface
public interface Handler<E, T extends @Nullable Object> {
    T handle(E event, Transaction tx) throws Exception;
}
