package dev.idem.jms;

import dev.idem.Header;
import dev.idem.broker.Attributes;
import dev.idem.broker.DeliveryHeaders;
import dev.idem.broker.MessageReader.Delivered;
import jakarta.jms.BytesMessage;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Queue;
import jakarta.jms.TextMessage;
import jakarta.jms.Topic;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Payload, headers and attributes of what a provider delivers. */
final class Incoming {
    /** Where an application puts its own id, if not where {@link Attributes} says. */
    static final String ID = "messageId";

    static final String CONTENT_TYPE = "contentType";

    private static final Attributes.Broker NOTHING = new Attributes.Broker(null, null, null, null);
    private static final Logger log = LoggerFactory.getLogger(JmsInboxListener.class);

    private Incoming() {}

    /** A message that cannot be read is empty: the policy for missing keys decides about it. */
    static Delivered open(Message message) {
        try {
            return new Delivered(raw(message), broker(message), added(message));
        } catch (JMSException | RuntimeException unreadable) { // its text may quote the body
            log.debug("A message could not be read: {}", unreadable.getClass().getName());
            return new Delivered(dev.idem.Message.builder().build(), NOTHING);
        }
    }

    private static dev.idem.Message raw(Message message) throws JMSException {
        dev.idem.Message.Builder raw = dev.idem.Message.builder();
        for (Map.Entry<String, Object> property : Properties.of(message).entrySet()) {
            String name = Properties.nameElsewhere(property.getKey());
            if (property.getValue() instanceof byte[] bytes) {
                raw.header(name, bytes);
            } else {
                raw.header(name, text(property.getValue()));
            }
        }
        Object contentType = message.getObjectProperty(CONTENT_TYPE);
        if (contentType == null) {
            AmqpMessage.contentType(message).ifPresent(raw::contentType);
        } else {
            raw.contentType(contentType.toString());
        }
        return raw.sharedPayload(payload(message)).build();
    }

    /** A producer that speaks AMQP 1.0 may send timestamps. */
    static String text(Object value) {
        return value instanceof Date time ? time.toInstant().toString() : value.toString();
    }

    /** How it came. */
    private static List<Header> added(Message message) throws JMSException {
        List<Header> added = new ArrayList<>();
        Destination destination = message.getJMSDestination();
        if (destination instanceof Queue queue) {
            added.add(new Header(DeliveryHeaders.QUEUE, queue.getQueueName()));
        } else if (destination instanceof Topic topic) {
            added.add(new Header(DeliveryHeaders.TOPIC, topic.getTopicName()));
        }
        if (message.getJMSPriority() != Message.DEFAULT_PRIORITY) {
            added.add(new Header(DeliveryHeaders.PRIORITY, Integer.toString(message.getJMSPriority())));
        }
        if (message.getJMSExpiration() > 0) {
            String expires = Instant.ofEpochMilli(message.getJMSExpiration()).toString();
            added.add(new Header(DeliveryHeaders.EXPIRES, expires));
        }
        return added;
    }

    static byte[] payload(Message message) throws JMSException {
        if (message instanceof BytesMessage bytes) {
            return body(bytes);
        }
        String text = message instanceof TextMessage written ? written.getText() : null;
        return text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
    }

    static byte[] body(BytesMessage message) throws JMSException {
        byte[] body = new byte[Math.toIntExact(message.getBodyLength())];
        message.reset();
        message.readBytes(body);
        return body;
    }

    static boolean isReadable(Message message) {
        return message instanceof BytesMessage || message instanceof TextMessage;
    }

    private static Attributes.Broker broker(Message message) throws JMSException {
        long time = message.getJMSTimestamp();
        return new Attributes.Broker(
                isReadable(message) ? message.getStringProperty(ID) : null,
                message.getJMSType(),
                message.getStringProperty("JMSXGroupID"),
                time == 0 ? null : Instant.ofEpochMilli(time),
                message.getJMSCorrelationID());
    }
}
