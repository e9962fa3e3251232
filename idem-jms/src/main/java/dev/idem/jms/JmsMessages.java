package dev.idem.jms;

import dev.idem.broker.MessageReader;
import jakarta.jms.Message;

/**
 * Makes messages of deliveries, for a listener of your own.
 *
 * <p>Bytes and text are payloads. Objects are never deserialised: such a message has neither payload nor id, and the
 * consumer's policy for missing keys decides about it. Call it on the thread that received the message.
 */
public final class JmsMessages {
    private JmsMessages() {}

    /** The reader that {@link JmsInbox} uses by default. */
    public static MessageReader<Message> reader() {
        return MessageReader.of(Incoming::open);
    }
}
