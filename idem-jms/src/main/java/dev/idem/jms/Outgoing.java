package dev.idem.jms;

import dev.idem.Header;
import dev.idem.broker.DeadLetter;
import jakarta.jms.BytesMessage;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * What a session publishes for the messages it has received: dead letters, and copies for later. Persistent, so that a send
 * outside a transaction returns when the broker has it. A copy has everything the message had but what the provider itself
 * sets. Used by one thread.
 */
final class Outgoing implements AutoCloseable {
    /** The id that the broker gave to the first of the copies. */
    static final String FIRST_ID = "idem_first_id";

    /** Names a letter among others. */
    static final String LETTER = "idem_letter";

    private final Session session;
    private final Queue queue;
    private final Queue deadLetters;
    private final MessageProducer producer;

    Outgoing(Session session, JmsInbox.Builder options) throws JMSException {
        this.session = session;
        queue = session.createQueue(options.queue);
        deadLetters = session.createQueue(options.deadLetters);
        producer = session.createProducer(null);
        producer.setDeliveryMode(DeliveryMode.PERSISTENT);
    }

    void setAside(Message origin, dev.idem.Message message, DeadLetter letter) throws JMSException {
        Message copy = copy(session, origin, message);
        List<Header> ours = letter.from(Map.of("queue", queue.getQueueName())).ours(message);
        for (Header header : ours) {
            Properties.set(copy, Properties.nameHere(header.name()), header.text());
        }
        copy.setStringProperty(LETTER, UUID.randomUUID().toString());
        producer.setDeliveryDelay(0);
        producer.send(deadLetters, copy);
    }

    void postpone(Message origin, dev.idem.Message message, Duration delay, int failures) throws JMSException {
        Message copy = copy(session, origin, message);
        copy.setIntProperty(Incoming.FAILURES, failures);
        producer.setDeliveryDelay(delay.toMillis());
        producer.send(queue, copy);
    }

    /**
     * The same message once more, without our own properties, but with what it was taken for: a property's name may not
     * survive the copy, and its id must.
     */
    static Message copy(Session session, Message origin, dev.idem.Message message) throws JMSException {
        Map<String, Object> properties = Properties.of(origin);
        Message copy = body(session, origin);
        for (Map.Entry<String, Object> property : properties.entrySet()) {
            if (isKept(property.getKey())) {
                Properties.set(copy, property.getKey(), property.getValue());
            }
        }
        if (!properties.containsKey(FIRST_ID) && origin.getJMSMessageID() != null) {
            copy.setStringProperty(FIRST_ID, origin.getJMSMessageID());
        }
        Identity.write(message, copy);
        copy.setJMSType(origin.getJMSType());
        copy.setJMSCorrelationID(origin.getJMSCorrelationID());
        copy.setJMSReplyTo(origin.getJMSReplyTo());
        return copy;
    }

    private static boolean isKept(String property) {
        String name = Properties.nameElsewhere(property);
        boolean ours = DeadLetter.withoutOurs(List.of(new Header(name, ""))).isEmpty();
        boolean replays = name.equals("idem-replays");
        boolean ofThisCopy = property.equals(LETTER) || property.equals(Incoming.FAILURES);
        return replays || (!ours && !ofThisCopy);
    }

    private static Message body(Session session, Message origin) throws JMSException {
        if (origin instanceof BytesMessage bytes) {
            BytesMessage copy = session.createBytesMessage();
            copy.writeBytes(Incoming.body(bytes));
            return copy;
        }
        if (origin instanceof TextMessage text) {
            return session.createTextMessage(text.getText());
        }
        origin.clearProperties(); // forwarded as it is, because nobody looks inside
        return origin;
    }

    @Override
    public void close() throws JMSException {
        producer.close();
    }
}
