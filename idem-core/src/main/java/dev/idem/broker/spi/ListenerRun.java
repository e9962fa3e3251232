package dev.idem.broker.spi;

import dev.idem.broker.Listener;
import dev.idem.broker.ListenerState;
import dev.idem.broker.Waiting;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/** One life of a {@link Listener}, from its start to its end. For those who write an adapter. Thread-safe. */
public interface ListenerRun {
    /** As {@link Listener#state}, but never {@link ListenerState#PAUSED}. */
    ListenerState state();

    Optional<Throwable> failure();

    Optional<Waiting> waiting();

    int pending();

    long pendingBytes();

    OptionalLong lag();

    /** Whether to take messages from the broker. */
    void taking(boolean wanted);

    void close(Duration longest);
}
