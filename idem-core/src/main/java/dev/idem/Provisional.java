package dev.idem;

import dev.idem.spi.MarkerKey;
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
    private final JoinedPlace place;

    Provisional(Outcome<T> outcome, JoinedPlace place, Runnable confirmation, Runnable afterCommit) {
        this.outcome = outcome;
        this.place = place;
        this.confirmation = confirmation;
        this.afterCommit = afterCommit;
    }

    public Outcome<T> outcome() {
        return outcome;
    }

    /**
     * What to tell the broker when the owner's transaction has ended: committed, or rolled back and to come again. If it was
     * committed this also wakes the relays of what was published; without it they find it a little later. What was
     * processed inside the handler of another joined message that then failed was undone with that one: it must come again,
     * although the owner has committed.
     */
    public Settlement settlement(boolean committed) {
        boolean there = committed && place.undoneWith() == null;
        if (there) {
            afterCommit.run();
        }
        // A failure is not undone by the rollback it asks for.
        return there || outcome instanceof Outcome.Failed ? outcome.settlement() : Settlement.RETRY;
    }

    /**
     * Proves that the marker is still in the owner's transaction. Call it as the last thing before the commit: a commit
     * on a transaction that something else has broken may look like success.
     *
     * @throws BrokenTransactionException if it is not: roll back. If it was undone with another message, inside whose
     *     handler it was processed, the text says so
     * @throws NestedProcessingException inside the handler of a message that has joined later
     */
    public void confirm() {
        place.refuseConfirmInsideLater();
        MarkerKey failed = place.undoneWith();
        if (failed != null && !(outcome instanceof Outcome.Failed)) {
            throw new BrokenTransactionException(
                    "This message was processed inside the handler of " + failed
                            + ", which failed, and was undone together with it. It is not done and must come again, so its"
                            + " settlement is RETRY; the rest of the transaction is as it was",
                    false,
                    null);
        }
        confirmation.run();
    }

    /** The kind of outcome, without what the work returned. */
    @Override
    public String toString() {
        return "Provisional[" + outcome.getClass().getSimpleName() + ", " + outcome.settlement()
                + " once the owner has committed]";
    }
}
