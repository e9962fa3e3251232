package dev.idem;

import org.jspecify.annotations.Nullable;

/**
 * The work for one message, given in the call.
 *
 * @param <T> what it returns
 * @param <X> what it throws; passes through {@link Inbox#process} untouched
 */
@FunctionalInterface
public interface Work<T extends @Nullable Object, X extends Exception> {
    T run(Transaction tx) throws X;

    /** Work that returns nothing. */
    @FunctionalInterface
    interface Action<X extends Exception> {
        void run(Transaction tx) throws X;
    }
}
