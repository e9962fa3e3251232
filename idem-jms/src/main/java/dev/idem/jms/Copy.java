package dev.idem.jms;

import dev.idem.Header;
import jakarta.jms.BytesMessage;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The same message once more: body, properties, type, correlation id and reply-to as they were, and only those properties
 * of ours that are given.
 */
final class Copy {
    private Copy() {}

    static Message of(Session session, Message origin, List<Header> ours) throws JMSException {
        Map<String, Object> properties = Properties.of(origin);
        Message copy = body(session, origin);
        for (Map.Entry<String, Object> property : properties.entrySet()) {
            if (!Properties.isOurs(property.getKey())) {
                Properties.set(copy, property.getKey(), property.getValue());
            }
        }
        if (!properties.containsKey(Incoming.CONTENT_TYPE)) {
            Optional<String> contentType = AmqpMessage.contentType(origin);
            if (contentType.isPresent()) {
                copy.setStringProperty(Incoming.CONTENT_TYPE, contentType.get());
            }
        }
        for (Header header : ours) {
            copy.setStringProperty(Properties.nameHere(header.name()), header.text());
        }
        copy.setJMSType(origin.getJMSType());
        copy.setJMSCorrelationID(origin.getJMSCorrelationID());
        copy.setJMSReplyTo(origin.getJMSReplyTo());
        return copy;
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
}
