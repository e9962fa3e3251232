package dev.idem.internal.unit;

import dev.idem.NestedProcessingException;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/**
 * Where a message has joined: which transaction, and inside which other message's handler. What joins inside a handler is
 * undone together with it.
 *
 * @param around the innermost handler in the same transaction, if it was inside one
 */
record JoinedPlace(
        MarkerStore.Joinable store,
        Connection outer,
        @Nullable JoinedHandler around) {
    /** The place where the calling thread is now. */
    static JoinedPlace here(MarkerStore.Joinable store, Connection outer) {
        return new JoinedPlace(store, outer, innermost(store, outer));
    }

    private static @Nullable JoinedHandler innermost(MarkerStore.Joinable store, Connection outer) {
        JoinedHandler one = JoinedHandler.running();
        while (one != null && !store.isSame(one.place().outer(), outer)) {
            one = one.before();
        }
        return one;
    }

    /** With which message those were undone that have joined here; null if they were not. */
    @Nullable
    MarkerKey undoneWith() {
        for (JoinedHandler one = around; one != null; one = one.place().around()) {
            if (one.isUndone()) {
                return one.key();
            }
        }
        return null;
    }

    /** On some databases the proof for an earlier message takes away the savepoint that a later one is undone to. */
    void refuseConfirmInsideLater() {
        JoinedHandler running = innermost(store, outer);
        if (running != null && !isInside(running)) {
            throw new NestedProcessingException(
                    "Refused to confirm a message inside the handler of " + running.key()
                            + ", which has joined the same transaction after it. Confirm it when that handler has returned,"
                            + " as the last thing before the commit",
                    null);
        }
    }

    private boolean isInside(JoinedHandler handler) {
        JoinedHandler one = around;
        while (one != null && one != handler) {
            one = one.place().around();
        }
        return one == handler;
    }
}
