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
     * @throws Exception when nothing can be said of each; those that are with the broker all the same are published again. A
     *     {@link dev.idem.StoreException} is about the broker. Any other unchecked exception is about one of them, and a
     *     checked one about nobody knows whom: they are then published one by one, to find out
     */
    Map<Integer, Exception> publish(List<Message> messages) throws Exception;
}
