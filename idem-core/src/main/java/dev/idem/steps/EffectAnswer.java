package dev.idem.steps;

import org.jspecify.annotations.Nullable;

/**
 * What a provider knows of an effect that may have been made.
 *
 * @param <T> what the call would have answered
 */
public sealed interface EffectAnswer<T extends @Nullable Object> {
    /** It was made, and this is what the call would have answered. */
    record Done<T extends @Nullable Object>(T result) implements EffectAnswer<T> {}

    /** It was not made, and a call that is still on its way will not make it: it may be called again. */
    record NotDone<T extends @Nullable Object>() implements EffectAnswer<T> {}

    /** The provider cannot say, or not yet. The message fails, and is tried again as its retry policy says. */
    record Unknown<T extends @Nullable Object>() implements EffectAnswer<T> {}

    static <T extends @Nullable Object> EffectAnswer<T> done(T result) {
        return new Done<>(result);
    }

    static <T extends @Nullable Object> EffectAnswer<T> notDone() {
        return new NotDone<>();
    }

    static <T extends @Nullable Object> EffectAnswer<T> unknown() {
        return new Unknown<>();
    }
}
