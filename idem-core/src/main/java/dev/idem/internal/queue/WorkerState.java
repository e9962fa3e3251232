package dev.idem.internal.queue;

import java.util.concurrent.atomic.AtomicReference;

/** What a worker's thread may still do. Thread-safe. */
public final class WorkerState {
    private enum State {
        RUNNING,
        /** It ends what it is doing, and begins nothing. */
        STOPPING,
        /** It is stuck in a handler, and another one does its work: if it comes back, it says nothing and ends. */
        RETIRED
    }

    private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);

    public void stop() {
        state.compareAndSet(State.RUNNING, State.STOPPING);
    }

    /** False if it was retired before. */
    public boolean retire() {
        return state.getAndSet(State.RETIRED) != State.RETIRED;
    }

    /** Whether handlers may begin. */
    public boolean goesOn() {
        return state.get() == State.RUNNING;
    }

    public boolean isRetired() {
        return state.get() == State.RETIRED;
    }
}
