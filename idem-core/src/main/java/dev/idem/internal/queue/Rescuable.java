package dev.idem.internal.queue;

import dev.idem.HandlerTimeoutException;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.QueueChange;
import java.util.List;

/** What a worker is doing with the messages it has taken, as seen from another thread when the worker is slow or stuck. */
public interface Rescuable {
    /**
     * What is to be recorded now. Asked once.
     *
     * @param stuck the messages whose handler does not return
     */
    List<QueueChange> rescued(List<MarkerKey> stuck, HandlerTimeoutException cause);

    /** What was leased and not begun is for others from now on: what is to be recorded for that. */
    List<QueueChange> share();

    /** Writes that nobody knows what becomes of a call that is under way; before the message is moved. Safe to repeat. */
    default void writeUnknown() {}
}
