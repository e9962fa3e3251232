package dev.idem.internal.unit;

import dev.idem.spi.MarkerKey;
import org.jspecify.annotations.Nullable;

/**
 * The handler of a message that has joined somebody else's transaction. Those of a thread are known across all inboxes,
 * for several of them may share a transaction. Used by one thread.
 */
final class JoinedHandler {
    private static final ThreadLocal<@Nullable JoinedHandler> RUNNING = new ThreadLocal<>();

    private final MarkerKey key;
    private final JoinedPlace place;
    private final @Nullable JoinedHandler before;
    private boolean undone;

    private JoinedHandler(MarkerKey key, JoinedPlace place, @Nullable JoinedHandler before) {
        this.key = key;
        this.place = place;
        this.before = before;
    }

    static JoinedHandler begin(MarkerKey key, JoinedPlace place) {
        JoinedHandler began = new JoinedHandler(key, place, RUNNING.get());
        RUNNING.set(began);
        return began;
    }

    void end() {
        if (before == null) {
            RUNNING.remove();
        } else {
            RUNNING.set(before);
        }
    }

    /** The innermost of those that run on this thread. */
    static @Nullable JoinedHandler running() {
        return RUNNING.get();
    }

    /** The one that runs on this thread and began this one, in whatever transaction. */
    @Nullable
    JoinedHandler before() {
        return before;
    }

    MarkerKey key() {
        return key;
    }

    JoinedPlace place() {
        return place;
    }

    /** Nothing of it is left, nor of what has joined inside of it. */
    void undone() {
        undone = true;
    }

    boolean isUndone() {
        return undone;
    }
}
