package dev.idem.jms;

import dev.idem.Header;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.DeliveryHeaders;
import dev.idem.broker.MessageReader;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Makes messages of deliveries, and dead letters of both, for a listener of your own.
 *
 * <p>Bytes and text are payloads. Objects are never deserialised: such a message has neither payload nor id, and the
 * consumer's policy for missing keys decides about it. Call it on the thread that received the message.
 */
public final class JmsMessages {
    private static final String QUEUE = "queue";

    private JmsMessages() {}

    /** The reader that {@link JmsInbox} uses by default. */
    public static MessageReader<Message> reader() {
        return MessageReader.of(Incoming::open);
    }

    /**
     * The dead letter of a delivery, to be sent to {@code <queue>.dead-letters} before the delivery is acknowledged, best in its
     * transaction. {@link JmsDeadLetters} finds it there, and sends it again to the queue it came from. A delivery that is
     * neither bytes nor text becomes the letter itself.
     *
     * @param session the one that sends it
     * @param message what the reader has made of the delivery
     */
    public static Message letter(Session session, Message delivery, dev.idem.Message message, DeadLetter letter)
            throws JMSException {
        DeadLetter told = letter.origin().containsKey(QUEUE)
                ? letter
                : message.header(DeliveryHeaders.QUEUE)
                        .map(queue -> letter.from(Map.of(QUEUE, queue)))
                        .orElse(letter);
        List<Header> ours = new ArrayList<>(told.ours(message));
        ours.addAll(Identity.of(message));
        return letter(session, delivery, ours);
    }

    static Message letter(Session session, Message delivery, List<Header> ours) throws JMSException {
        Message copy = Copy.of(session, delivery, ours);
        copy.setStringProperty(Outgoing.LETTER, UUID.randomUUID().toString());
        return copy;
    }
}
