package dev.idem.spi;

import java.util.List;

/**
 * A queue that also keeps the steps of messages that are handled one step at a time. Every write is made in the same
 * transaction as the proof that the message is still leased under its fence, so whoever has lost it can write nothing.
 * Thread-safe.
 *
 * <pre>
 *   step:    openStep ──► work ──► commit                 effect, result and DONE, together or not at all
 *   effect:  write(INTENT) ──► call ──► write(DONE)       found INTENT by another run: unknown
 *                                └────► write(UNKNOWN), or erase when surely nothing was done
 *   end:     complete                                     steps are removed, effects closed and kept for the window
 * </pre>
 */
public interface StepStore extends QueueStore {
    /** What is stored under the key of a message, also what was closed when it was done before. */
    List<StepRecord> steps(Taking taking, MarkerKey key);

    /**
     * Opens a transaction for one step. Its commit stores the step as done, with the result given to the unit. Refused as
     * busy when the lease is lost, and as taken when the step is stored already: the claim id then tells who stored it.
     */
    Batch openStep(Taking taking, QueuedMessage message, StepRecord step);

    /** Stores an effect as it is given, in place of what was stored under its name; false when the lease is lost. */
    boolean write(Taking taking, QueuedMessage message, StepRecord effect);

    /** Removes an effect that was surely not made; false when the lease is lost. */
    boolean erase(Taking taking, QueuedMessage message, String name);

    /** Completes a message whose steps are all done; false when the lease is lost. */
    boolean complete(Taking taking, QueuedMessage message);
}
