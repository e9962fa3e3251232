package dev.idem.internal.unit;

import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Rejection;
import dev.idem.internal.event.Events;
import dev.idem.spi.Claim;
import dev.idem.spi.MarkerKey;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Judges a key that was granted. A grant says that there is no marker; it says that the message is new only as long as no
 * marker was removed. The horizon is the time of the newest marker that was removed. A message is made before it is
 * processed, so one that is processed and forgotten was made before the horizon, give or take the skew of clocks: it is
 * undecidable. A message without a time cannot be judged, and is new.
 */
public final class Horizon {
    private final Events events;

    public Horizon(Events events) {
        this.events = events;
    }

    /**
     * Empty when the handler may run; else the outcome, and the claim must be undone.
     *
     * @param look asks the claim's transaction for the horizon, if that is not before the time given
     */
    public <T extends @Nullable Object> Optional<Outcome<T>> judge(
            Delivery<T, ?> attempt, MarkerKey key, Function<Instant, Optional<Instant>> look) {
        Optional<Instant> horizon = attempt.madeAt().flatMap(made -> look.apply(earliest(made, attempt.policy())));
        if (horizon.isEmpty()) {
            return Optional.empty();
        }
        Policy policy = attempt.policy();
        if (policy.undecidable() == Policy.Undecidable.PROCESS && !policy.observeOnly()) {
            events.tell(l -> l.unguarded(key.consumer(), Rejection.UNDECIDABLE));
            return Optional.empty();
        }
        return Optional.of(outcome(policy, key, horizon.get()));
    }

    /**
     * For a key of a time whose markers are all gone, with the place where they were. It cannot be processed, whatever the
     * policy says: nothing would tell its next delivery.
     */
    public static <T extends @Nullable Object> Outcome<T> forgotten(
            Delivery<T, ?> attempt, MarkerKey key, Instant horizon) {
        Policy policy = attempt.policy();
        return policy.undecidable() == Policy.Undecidable.PROCESS && !policy.observeOnly()
                ? new Outcome.Rejected<>(
                        Rejection.UNDECIDABLE,
                        key + " is older than " + horizon + ", from when on markers are kept: it cannot be"
                                + " processed, because there is no place for its marker. Publish it under a new id")
                : outcome(policy, key, horizon);
    }

    /** For a key of a time that is far ahead: waiting for it would hold up what comes behind it, for years perhaps. */
    public static <T extends @Nullable Object> Outcome<T> unforeseen(
            Delivery<T, ?> attempt, MarkerKey key, Instant latest) {
        if (attempt.policy().observeOnly()) {
            return new Outcome.Busy<>();
        }
        return new Outcome.Rejected<>(
                Rejection.KEY_FROM_THE_FUTURE,
                key + " says that it was made after " + latest + ". Is the producer's clock wrong, or the id forged?"
                        + " Publish it under a new id");
    }

    /** For a key that has no place yet: it must come again, but where everything is let through it counts as busy. */
    static <T extends @Nullable Object> Outcome<T> unplaced(Delivery<T, ?> attempt, Claim.Unplaced unplaced) {
        if (attempt.policy().observeOnly()) {
            return new Outcome.Busy<>();
        }
        throw unplaced.reason();
    }

    private static Instant earliest(Instant made, Policy policy) {
        try {
            return made.minus(policy.clockSkew());
        } catch (DateTimeException beforeAllTime) {
            return Instant.MIN;
        }
    }

    private static <T extends @Nullable Object> Outcome<T> outcome(Policy policy, MarkerKey key, Instant horizon) {
        return policy.undecidable() == Policy.Undecidable.REJECT
                ? new Outcome.Rejected<>(
                        Rejection.UNDECIDABLE,
                        key + " is older than the horizon " + horizon + ": it may have been processed before")
                : new Outcome.Undecidable<>(horizon);
    }
}
