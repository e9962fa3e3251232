package dev.idem.jms;

import dev.idem.StoreException;
import dev.idem.broker.EventHeaders;
import dev.idem.broker.Publisher;
import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.DeliveryMode;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.JMSRuntimeException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Publishes persistent messages in transactions of the session: when it returns, the broker has all of them. The id is the
 * property {@code messageId}, the ordering key {@code JMSXGroupID}, the type {@code JMSType}, where {@link JmsInbox} finds them;
 * and all are CloudEvents properties ({@code cloudEvents_source}, …). Has one session, opened when needed. Thread-safe. Close
 * it after the inbox.
 */
public final class JmsPublisher implements Publisher, AutoCloseable {
    private final ConnectionFactory factory;
    private final Naming destination;
    private @Nullable Open open;
    private boolean closed;

    private JmsPublisher(ConnectionFactory factory, Naming destination) {
        this.factory = Objects.requireNonNull(factory, "factory");
        this.destination = destination;
    }

    public static JmsPublisher toQueue(ConnectionFactory factory, String queue) {
        Objects.requireNonNull(queue, "queue");
        return new JmsPublisher(factory, session -> session.createQueue(queue));
    }

    public static JmsPublisher toTopic(ConnectionFactory factory, String topic) {
        Objects.requireNonNull(topic, "topic");
        return new JmsPublisher(factory, session -> session.createTopic(topic));
    }

    @FunctionalInterface
    private interface Naming {
        Destination in(Session session) throws JMSException;
    }

    private record Open(Connection connection, Session session, MessageProducer producer) {}

    /** @throws JMSException when the provider does not say about whom: often of a message's size, or of its own disk */
    @Override
    public synchronized Map<Integer, Exception> publish(List<dev.idem.Message> messages) throws JMSException {
        Open current = connected();
        boolean committed = false;
        try {
            for (dev.idem.Message message : messages) {
                current.producer.send(outgoing(current.session, message));
            }
            current.session.commit();
            committed = true;
            return Map.of();
        } catch (JMSException | JMSRuntimeException failure) {
            throw Refusal.whileSending(failure);
        } finally {
            if (!committed) { // with its session the transaction goes, if it was not committed all the same
                disconnect();
            }
        }
    }

    private Open connected() {
        if (closed) {
            throw new StoreException("The publisher is closed", null);
        }
        try {
            Open current = open == null ? connect() : open;
            open = current;
            return current;
        } catch (JMSException | JMSRuntimeException failure) {
            throw Refusal.whileConnecting(failure);
        }
    }

    private Open connect() throws JMSException {
        Connection connection = factory.createConnection();
        boolean done = false;
        try {
            Session session = connection.createSession(Session.SESSION_TRANSACTED);
            MessageProducer producer = producer(session);
            done = true;
            return new Open(connection, session, producer);
        } finally {
            if (!done) {
                connection.close();
            }
        }
    }

    private MessageProducer producer(Session session) {
        try {
            MessageProducer producer = session.createProducer(destination.in(session));
            producer.setDeliveryMode(DeliveryMode.PERSISTENT);
            return producer;
        } catch (JMSException | JMSRuntimeException failure) {
            throw Refusal.ofTheDestination(failure);
        }
    }

    private static Message outgoing(Session session, dev.idem.Message message) throws JMSException {
        BytesMessage outgoing = session.createBytesMessage();
        outgoing.writeBytes(message.payload());
        for (dev.idem.Header header : EventHeaders.of(message, "cloudEvents_")) {
            Properties.set(outgoing, Properties.nameHere(header.name()), header.text());
        }
        set(outgoing, Incoming.ID, message.id().orElse(null));
        set(outgoing, Incoming.CONTENT_TYPE, message.contentType().orElse(null));
        set(outgoing, "JMSXGroupID", message.orderingKey().orElse(null));
        outgoing.setJMSType(message.type().orElse(null));
        return outgoing;
    }

    private static void set(Message message, String property, @Nullable String value) throws JMSException {
        if (value != null) {
            message.setStringProperty(property, value);
        }
    }

    private void disconnect() {
        Open old = open;
        open = null;
        try {
            if (old != null) {
                old.connection.close();
            }
        } catch (JMSException | JMSRuntimeException gone) {
            // as intended
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        disconnect();
    }
}
