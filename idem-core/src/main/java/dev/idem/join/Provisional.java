package dev.idem.join;

import dev.idem.BrokenTransactionException;
import dev.idem.NestedProcessingException;
import dev.idem.Outcome;
import dev.idem.Settlement;
import org.jspecify.annotations.Nullable;

/**
 * What a delivery will have become when the owner of the transaction has committed. Settle no joined delivery before that:
 * {@code Processed} is nothing if the owner rolls back, and even a {@code Duplicate} may have found the marker of an
 * earlier delivery in the same transaction. {@link #settlement} says it for both ends. Used by one thread.
 */
public interface Provisional<T extends @Nullable Object> {
    Outcome<T> outcome();

    /**
     * What to tell the broker when the owner's transaction has ended: committed, or rolled back and to come again. If it was
     * committed this also wakes the relays of what was published; without it they find it a little later. What was
     * processed inside the handler of another joined message that then failed was undone with that one: it must come again,
     * although the owner has committed.
     */
    Settlement settlement(boolean committed);

    /**
     * Proves that the marker is still in the owner's transaction. Call it as the last thing before the commit: a commit
     * on a transaction that something else has broken may look like success.
     *
     * @throws BrokenTransactionException if it is not: roll back. If it was undone with another message, inside whose
     *     handler it was processed, the text says so
     * @throws NestedProcessingException inside the handler of a message that has joined later
     */
    void confirm();
}
