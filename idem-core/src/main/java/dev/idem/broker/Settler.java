package dev.idem.broker;

import dev.idem.Message;
import java.time.Duration;

/**
 * The broker's side of a decision; called by the threads of {@link Lanes}, several at once.
 *
 * @param <D> a delivery, as the broker's client has it
 */
public interface Settler<D> {
    /** The broker may forget it. A delivery that is not the caller's any more is let be: it comes again. */
    void acknowledge(D delivery);

    /**
     * Publishes the dead letter and then acknowledges.
     *
     * @throws Exception if the broker has not confirmed that it has the letter: called again later
     */
    void setAside(D delivery, Message message, DeadLetter letter) throws Exception;

    /**
     * Lets the broker deliver it again after a while, and so gives up the message here. Answers false where the broker
     * cannot: then it waits here.
     *
     * @throws Exception if the broker has not confirmed: then it waits here
     */
    default boolean postpone(D delivery, Message message, Duration delay, int failures) throws Exception {
        return false;
    }
}
