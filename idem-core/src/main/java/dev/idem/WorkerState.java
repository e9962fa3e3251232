package dev.idem;

import java.util.concurrent.atomic.AtomicReference;

/** What a worker's thread may still do. Thread-safe. */
final class WorkerState {
    private enum State {
        RUNNING,
        /** It ends what it is doing, and begins nothing. */
        STOPPING,
        /** It is stuck in a handler, and another one does its work: if it comes back, it says nothing and ends. */
        RETIRED
    }

    private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);

    void stop() {
        state.compareAndSet(State.RUNNING, State.STOPPING);
    }

    /** False if it was retired before. */
    boolean retire() {
        return state.getAndSet(State.RETIRED) != State.RETIRED;
    }

    /** Whether handlers may begin. */
    boolean goesOn() {
        return state.get() == State.RUNNING;
    }

    boolean isRetired() {
        return state.get() == State.RETIRED;
    }
}
