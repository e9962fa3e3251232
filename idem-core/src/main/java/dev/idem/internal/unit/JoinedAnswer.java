package dev.idem.internal.unit;

import dev.idem.BrokenTransactionException;
import dev.idem.Outcome;
import dev.idem.Settlement;
import dev.idem.join.Provisional;
import dev.idem.spi.MarkerKey;
import org.jspecify.annotations.Nullable;

/** The answer to a message that has joined somebody else's transaction. Used by one thread. */
final class JoinedAnswer<T extends @Nullable Object> implements Provisional<T> {
    private final Outcome<T> outcome;
    private final Runnable confirmation;
    private final Runnable afterCommit;
    private final JoinedPlace place;

    JoinedAnswer(Outcome<T> outcome, JoinedPlace place, Runnable confirmation, Runnable afterCommit) {
        this.outcome = outcome;
        this.place = place;
        this.confirmation = confirmation;
        this.afterCommit = afterCommit;
    }

    @Override
    public Outcome<T> outcome() {
        return outcome;
    }

    @Override
    public Settlement settlement(boolean committed) {
        boolean there = committed && place.undoneWith() == null;
        if (there) {
            afterCommit.run();
        }
        // A failure is not undone by the rollback it asks for.
        return there || outcome instanceof Outcome.Failed ? outcome.settlement() : Settlement.RETRY;
    }

    @Override
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
