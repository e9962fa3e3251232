package dev.idem.internal.unit;

import dev.idem.NestedProcessingException;
import dev.idem.spi.MarkerKey;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * Knows which keys this thread is working on. Processing a key inside itself would wait for itself, or would find its own
 * uncommitted marker and call it a duplicate; processing another key in a second transaction could commit although the
 * first rolls back, and needs a second connection. Both fail at once; the second is possible by joining.
 */
public final class Nesting {
    /** Stays with its thread when it is empty: to make a new one for each message costs more than to keep it. */
    private final ThreadLocal<Deque<MarkerKey>> running = ThreadLocal.withInitial(ArrayDeque::new);

    /** Called before a unit of its own. */
    void enterAlone(MarkerKey key) {
        Deque<MarkerKey> keys = running.get();
        refuseItself(keys, key);
        if (!keys.isEmpty()) {
            throw new NestedProcessingException(
                    "Refused to process " + key + " inside the unit of " + keys.peek()
                            + ": it would commit on its own. Join that unit with inbox.within(tx.connection()),"
                            + " or process the message after the handler has returned",
                    null);
        }
        keys.push(key);
    }

    /** Called before a batch. A key of the batch that is joined inside it is refused, for its work is not done yet. */
    public void enterAll(List<MarkerKey> all) {
        enterAlone(all.get(0));
        running.get().addAll(all.subList(1, all.size()));
    }

    public void leaveAll() {
        running.get().clear();
    }

    /** Called before joining the transaction of whoever opened it. */
    void enterJoined(MarkerKey key) {
        Deque<MarkerKey> keys = running.get();
        refuseItself(keys, key);
        keys.push(key);
    }

    void leave() {
        running.get().pop();
    }

    private static void refuseItself(Deque<MarkerKey> keys, MarkerKey key) {
        if (keys.contains(key)) {
            throw new NestedProcessingException(
                    "Refused to process " + key + " inside itself: its handler is still running on this thread", null);
        }
    }
}
