package dev.idem.spi;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A queue that also keeps the steps of messages that are handled one step at a time. Every write is made in the same
 * transaction as the proof that the message is still leased under its fence, so whoever has lost it can write nothing.
 * Thread-safe.
 *
 * <pre>
 *   step:    openStep ──► work ──► commit                 effect, result and DONE, together or not at all
 *   effect:  intend ──► call ──► write(DONE)              found INTENT by another run: unknown
 *                         └────► write(UNKNOWN), or erase when surely nothing was done
 *   end:     complete                                     steps are removed, effects closed and kept for the window
 * </pre>
 *
 * <p>A message may be delivered by replay sessions as well, each time under a key of its own; what was asked of a provider for it
 * is one and the same. So every effect stands under two keys, that of the delivery and that of the <em>ledger</em>, which is the
 * same for all of them; outside sessions the two are one.
 */
public interface StepStore extends QueueStore {
    /** What is stored under the key of a message, also what was closed when it was done before. */
    List<StepRecord> steps(Taking taking, MarkerKey key);

    /**
     * Opens a transaction for one step. Its commit stores the step as done, with the result given to the unit. Refused as
     * busy when the lease is lost, and as taken when the step is stored already: the claim id then tells who stored it.
     */
    Batch openStep(Taking taking, QueuedMessage message, StepRecord step);

    /** What became of an intent. */
    enum Intended {
        STORED,
        LEASE_LOST,
        /** Somebody else has written about the effect since it was looked up. Nothing is stored. */
        CHANGED
    }

    /**
     * Stores that an effect is about to be made, if the ledger still has what was found there.
     *
     * @param found what the ledger had of it; null: nothing
     */
    Intended intend(
            Taking taking, QueuedMessage message, MarkerKey ledger, StepRecord intent, @Nullable StepRecord found);

    /** Whether the lease under which it was written last holds still. */
    boolean isLeased(Taking taking, StepRecord effect);

    /**
     * Stores what is known of an effect, under the key of the message and that of the ledger, in place of what is there under
     * its name; what is {@code DONE} stays. False when the lease is lost.
     */
    boolean write(Taking taking, QueuedMessage message, MarkerKey ledger, StepRecord effect);

    /** Removes an effect that was surely not made, unless somebody else wrote it last; false when the lease is lost. */
    boolean erase(Taking taking, QueuedMessage message, MarkerKey ledger, String name);

    /** Completes a message whose steps are all done; false when the lease is lost. */
    boolean complete(Taking taking, QueuedMessage message);
}
