package dev.idem.steps;

import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What to do with an effect of which nobody knows whether it was made: the process died, the lease was lost or the call
 * failed between the intent and the result. Immutable and thread-safe.
 *
 * @param <T> what the call answers
 */
public final class EffectPolicy<T extends @Nullable Object> {
    private final WhenUnknown whenUnknown;
    private final @Nullable Reconciler<T> reconciler;
    private final @Nullable String scope;
    private final @Nullable T suppressed;

    private EffectPolicy(
            WhenUnknown whenUnknown,
            @Nullable Reconciler<T> reconciler,
            @Nullable String scope,
            @Nullable T suppressed) {
        this.whenUnknown = whenUnknown;
        this.reconciler = reconciler;
        this.scope = scope;
        this.suppressed = suppressed;
    }

    /** The ways on from an unknown effect. */
    public enum WhenUnknown {
        PARK,
        RETRY,
        ASK
    }

    /** Asks the provider whether an effect was made. Must be thread-safe. */
    @FunctionalInterface
    public interface Reconciler<T extends @Nullable Object> {
        /** What it throws counts as a failure of the handler; the effect stays unknown. */
        EffectAnswer<T> ask(EffectKey key) throws Exception;
    }

    /** Parks the message, so that a person finds out: the default, and right for providers that know no keys. */
    public static <T extends @Nullable Object> EffectPolicy<T> park() {
        return new EffectPolicy<>(WhenUnknown.PARK, null, null, null);
    }

    /**
     * Calls again with the same key. For providers that recognise it and answer a repetition as the first call, for at
     * least as long as retries take; one that does not makes the effect twice.
     */
    public static <T extends @Nullable Object> EffectPolicy<T> retryWithSameKey() {
        return new EffectPolicy<>(WhenUnknown.RETRY, null, null, null);
    }

    /** Asks first: what was made is not made again, what was not is called, with the same key. */
    public static <T extends @Nullable Object> EffectPolicy<T> ask(Reconciler<T> reconciler) {
        return new EffectPolicy<>(WhenUnknown.ASK, Objects.requireNonNull(reconciler, "reconciler"), null, null);
    }

    /**
     * What stands for the consumer's name in the key. Default: that name. Say another if the consumer may be renamed, or
     * if several services share an account of the provider and use the same names of consumers.
     */
    public EffectPolicy<T> withScope(String value) {
        return new EffectPolicy<>(whenUnknown, reconciler, Objects.requireNonNull(value, "value"), suppressed);
    }

    /**
     * What an effect answers in a replay that does not make it and has no stored result of it. Default: it throws {@link
     * EffectSuppressedException}.
     */
    public EffectPolicy<T> withWhenSuppressed(T value) {
        return new EffectPolicy<>(whenUnknown, reconciler, scope, Objects.requireNonNull(value, "value"));
    }

    public WhenUnknown whenUnknown() {
        return whenUnknown;
    }

    public Reconciler<T> reconciler() {
        return Objects.requireNonNull(reconciler, "reconciler");
    }

    public String scope(String consumer) {
        return scope == null ? consumer : scope;
    }

    public Optional<T> suppressed() {
        return Optional.ofNullable(suppressed);
    }
}
