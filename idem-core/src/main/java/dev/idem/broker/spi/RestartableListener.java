package dev.idem.broker.spi;

import dev.idem.broker.Listener;
import dev.idem.broker.ListenerState;
import dev.idem.broker.Waiting;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * A listener made of lives: each restart ends one and begins the next. For those who write an adapter. Thread-safe.
 *
 * @param <R> the adapter's own kind of life
 */
public abstract class RestartableListener<R extends ListenerRun> implements Listener {
    private final Supplier<? extends R> start;
    private final Duration drain;
    private final Object taking = new Object();
    private volatile R run;
    private volatile boolean paused;
    private volatile boolean closed;

    /** Begins the first life. */
    protected RestartableListener(Supplier<? extends R> start, Duration drain) {
        this.start = start;
        this.drain = Objects.requireNonNull(drain, "drain");
        run = start.get();
    }

    /** The present life. */
    protected final R run() {
        return run;
    }

    @Override
    public final ListenerState state() {
        ListenerState state = run.state();
        boolean up = state == ListenerState.RUNNING || state == ListenerState.STARTING;
        return paused && up ? ListenerState.PAUSED : state;
    }

    @Override
    public final Optional<Throwable> failure() {
        R now = run;
        return now.state() == ListenerState.FAILED ? now.failure() : Optional.empty();
    }

    @Override
    public final Optional<Waiting> waiting() {
        R now = run;
        return now.state() == ListenerState.WAITING ? now.waiting() : Optional.empty();
    }

    @Override
    public final int pending() {
        return run.pending();
    }

    @Override
    public final long pendingBytes() {
        return run.pendingBytes();
    }

    @Override
    public final OptionalLong lag() {
        return run.lag();
    }

    @Override
    public final void pause() {
        take(false);
    }

    @Override
    public final void resume() {
        take(true);
    }

    /** Not under the lock of {@link #restart}: a handler may ask for it, for which a restart waits. */
    private void take(boolean wanted) {
        synchronized (taking) {
            paused = !wanted;
            run.taking(wanted);
        }
    }

    @Override
    public final synchronized void restart() {
        requireOpen();
        run.close(drain);
        requireOpen();
        R next = start.get();
        synchronized (taking) {
            run = next;
            next.taking(!paused);
        }
        if (closed) { // meanwhile, and by somebody who may have seen the former life only
            next.close(drain);
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("This listener was closed: build a new one");
        }
    }

    @Override
    public final void close() {
        close(drain);
    }

    /** Not synchronized: a handler that closes its listener must not wait for a restart that waits for the handler. */
    @Override
    public final void close(Duration longest) {
        closed = true;
        R last = run;
        last.close(longest);
        if (last != run) { // restarted meanwhile
            run.close(longest);
        }
    }
}
