package dev.idem.steps;

import org.jspecify.annotations.Nullable;

/**
 * A call to somebody outside the database.
 *
 * @param <T> what the provider answers
 * @param <X> what it throws; {@link EffectNotDoneException} where it is certain that nothing was done
 */
@FunctionalInterface
public interface EffectCall<T extends @Nullable Object, X extends Exception> {
    T call(EffectKey key) throws X;

    /** A call whose answer is not needed. */
    @FunctionalInterface
    interface Action<X extends Exception> {
        void call(EffectKey key) throws X;
    }
}
