package dev.idem;

import org.jspecify.annotations.Nullable;

/**
 * What a delivery will have become when the owner of the transaction has committed. Settle no joined delivery before that:
 * {@code Processed} is nothing if the owner rolls back, and even a {@code Duplicate} may have found the marker of an
 * earlier delivery in the same transaction. {@link #settlement} says it for both ends. Used by one thread.
 */
public final class Provisional<T extends @Nullable Object> {
    private final Outcome<T> outcome;
    private final Runnable confirmation;
    private final Runnable afterCommit;

    Provisional(Outcome<T> outcome, Runnable confirmation, Runnable afterCommit) {
        this.outcome = outcome;
        this.confirmation = confirmation;
        this.afterCommit = afterCommit;
    }

    public Outcome<T> outcome() {
        return outcome;
    }

    /**
     * What to tell the broker when the owner's transaction has ended: committed, or rolled back and to come again. If it was
     * committed this also wakes the relays of what was published; without it they find it a little later.
     */
    public Settlement settlement(boolean committed) {
        if (committed) {
            afterCommit.run();
        }
        // A failure is not undone by the rollback it asks for.
        return committed || outcome instanceof Outcome.Failed ? outcome.settlement() : Settlement.RETRY;
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

    /** The kind of outcome, without what the work returned. */
    @Override
    public String toString() {
        return "Provisional[" + outcome.getClass().getSimpleName() + ", " + outcome.settlement()
                + " once the owner has committed]";
    }
}
