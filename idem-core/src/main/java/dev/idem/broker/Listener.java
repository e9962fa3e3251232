package dev.idem.broker;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Takes the messages of a broker through an inbox until it is closed. The same for every broker. Thread-safe.
 *
 * <p>A mistake in the configuration is thrown when the listener is built. A broker, topic, queue or right that is not there
 * yet is waited for: {@link #state} says {@link ListenerState#WAITING}, and {@link #waiting} for what. What waiting does not
 * cure ends in {@link ListenerState#FAILED}; {@link #failure} says why, and {@link #restart} begins anew.
 */
public interface Listener extends AutoCloseable {
    ListenerState state();

    /** Why it is {@link ListenerState#FAILED}; empty if it is not. */
    Optional<Throwable> failure();

    /** What it waits for; empty unless it is {@link ListenerState#WAITING}. */
    Optional<Waiting> waiting();

    /** How many messages are here and not settled. */
    int pending();

    /** How many bytes these messages have. */
    long pendingBytes();

    /** How many messages the broker still has for this listener; empty where the broker does not say. */
    OptionalLong lag();

    /**
     * Takes nothing more from the broker, and finishes what is here. It stays connected and keeps its partitions. Calling it
     * again does no harm.
     */
    void pause();

    /** Goes on after {@link #pause}. */
    void resume();

    /**
     * Begins anew with the same configuration, also after {@link ListenerState#FAILED}. A running listener is first closed as
     * {@link #close()} does.
     *
     * @throws IllegalStateException if it was closed
     */
    void restart();

    /** Closes as {@link #close(Duration)} does, with the time that was chosen for draining. */
    @Override
    void close();

    /**
     * Takes nothing more, lets what is being worked on end within this time, and settles it. The rest is the broker's to
     * deliver again. Called by a handler, it returns at once, and the rest happens when the handler has ended. Calling it
     * again does no harm.
     */
    void close(Duration longest);
}
