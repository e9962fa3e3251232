package dev.idem;

import org.jspecify.annotations.Nullable;

/**
 * What a delivery will have become when the owner of the transaction has committed.
 *
 * <ul>
 *   <li>{@code Processed}: true only after the owner's commit has returned; settle after it, not before. If the owner
 *       rolls back, nothing happened, and the message must come again.
 *   <li>{@code Duplicate}, {@code Conflict}: true now, unless the message they repeat was processed in this same
 *       transaction; then only after its commit. Whoever settles everything after the commit is right in both cases.
 *   <li>{@code Rejected}: true now, whatever the owner does.
 *   <li>{@code Busy}: true now; the owner's transaction is still usable.
 * </ul>
 */
public final class Provisional<T extends @Nullable Object> {
    private final Outcome<T> outcome;
    private final Runnable confirmation;

    Provisional(Outcome<T> outcome, Runnable confirmation) {
        this.outcome = outcome;
        this.confirmation = confirmation;
    }

    public Outcome<T> outcome() {
        return outcome;
    }

    /**
     * Proves that the marker is still in the owner's transaction. Call it as the last thing before the commit: a commit
     * on a transaction that something else has broken may look like success.
     *
     * @throws BrokenTransactionException if it is not: roll back
     */
    public void confirm() {
        confirmation.run();
    }
}
