package dev.idem.broker;

import dev.idem.Message;
import java.util.List;
import java.util.Map;

/**
 * Gives messages to a broker, or to anything else that takes them and confirms. Thread-safe: the workers of a {@link Relay}
 * call it at once.
 */
@FunctionalInterface
public interface Publisher {
    /**
     * Publishes messages, with their ids where a receiver looks for them, and returns when the broker has confirmed all that
     * it answers nothing about. Of an ordered outbox no two of them have the same ordering key.
     *
     * @return the messages that failed, by their index, and why: a {@link dev.idem.TerminalException} parks the message at
     *     once, a {@link dev.idem.StoreException} blames the broker and not the message, which is tried again without being
     *     counted, and anything else is retried and parked as the queue's policy says
     * @throws Exception for all of them, as above; those that are with the broker all the same are published again
     */
    Map<Integer, Exception> publish(List<Message> messages) throws Exception;
}
