package dev.idem.spi;

import java.util.List;

/**
 * Stored messages that a worker has taken, and the transaction in which they will be completed. Committing it completes
 * the messages that were kept; those given up stay in the queue as they are, unless a change is recorded with them.
 */
public interface QueueBatch extends Batch {
    /** What was taken, in the order of receipt within each ordering key. */
    List<QueuedMessage> messages();

    /** Records a change that is committed together with everything else of this batch; lost if it does not commit. */
    void change(QueueChange change);
}
