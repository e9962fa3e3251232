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

    /**
     * A handler that returns nothing. It is a handler as well, and so the more special one of the two: that is what lets the
     * compiler choose it wherever a lambda or a method reference could be either.
     */
    @FunctionalInterface
    interface Action<E> extends Handler<E, @Nullable Void> {
        void run(E event, Transaction tx) throws Exception;

        @Override
        @SuppressWarnings(
                "NullAway") // the type argument is nullable, which the checker does not follow into an override
        default @Nullable Void handle(E event, Transaction tx) throws Exception {
            run(event, tx);
            return null;
        }
    }
}
