package dev.idem.broker.spi;

import dev.idem.Message;
import dev.idem.broker.DeadLetter;
import java.time.Duration;

/**
 * The broker's side of a decision. {@link #acknowledge} is called by the threads of {@link KeyedExecutor}, several at once; what
 * publishes is called by one thread of its own, so that a broker that takes no copies holds up no lane.
 *
 * @param <D> a delivery, as the broker's client has it
 */
public interface Settler<D> {
    /** The broker may forget it. Does nothing for a delivery that is not the caller's any more: it comes again. */
    void acknowledge(D delivery);

    /**
     * Publishes the dead letter and then acknowledges.
     *
     * @throws Exception if the broker has not confirmed that it has the letter: called again later
     */
    void setAside(D delivery, Message message, DeadLetter letter) throws Exception;

    /** Whether the broker can keep a message for so long; if not, it waits here. Answers at once. */
    default boolean canPostpone(Duration delay) {
        return false;
    }

    /**
     * Publishes a copy that the broker delivers after a while, and then acknowledges. Called only after
     * {@link #canPostpone}.
     *
     * @throws Exception if the broker has not confirmed: then the message waits here
     */
    default void postpone(D delivery, Message message, Duration delay, int failures) throws Exception {
        throw new UnsupportedOperationException("cannot postpone");
    }
}
