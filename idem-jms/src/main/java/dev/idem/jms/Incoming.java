package dev.idem.jms;

import dev.idem.broker.Attributes;
import jakarta.jms.BytesMessage;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.TextMessage;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns what a provider delivers into a message. Bytes and text are payloads; objects are never deserialised, so that such
 * messages have neither payload nor id, and the policy for missing keys decides about them. Immutable and thread-safe.
 */
final class Incoming {
    /** Where an application puts its own id, if not where {@link Attributes} says. */
    static final String ID = "messageId";

    static final String CONTENT_TYPE = "contentType";

    /** How often the handler has failed, on copies that come again. */
    static final String FAILURES = "idem_failures";

    private static final Logger log = LoggerFactory.getLogger(JmsListener.class);

    private final Attributes attributes;
    private final boolean idOfBroker;

    Incoming(Attributes attributes, boolean idOfBroker) {
        this.attributes = attributes;
        this.idOfBroker = idOfBroker;
    }

    dev.idem.Message read(Message message) {
        try {
            return Identity.read(attributes.read(raw(message), broker(message)), message);
        } catch (JMSException | RuntimeException unreadable) { // its text may quote the body
            log.debug("A message could not be read: {}", unreadable.getClass().getName());
            return dev.idem.Message.builder().build();
        }
    }

    private static dev.idem.Message raw(Message message) throws JMSException {
        dev.idem.Message.Builder raw = dev.idem.Message.builder();
        for (Map.Entry<String, Object> property : Properties.of(message).entrySet()) {
            String name = Properties.nameElsewhere(property.getKey());
            if (property.getValue() instanceof byte[] bytes) {
                raw.header(name, bytes);
            } else {
                raw.header(name, property.getValue().toString());
            }
        }
        Object contentType = message.getObjectProperty(CONTENT_TYPE);
        if (contentType != null) {
            raw.contentType(contentType.toString());
        }
        if (message instanceof BytesMessage bytes) {
            raw.payload(body(bytes));
        } else if (message instanceof TextMessage text && text.getText() != null) {
            raw.payload(text.getText().getBytes(StandardCharsets.UTF_8));
        }
        return raw.build();
    }

    static byte[] body(BytesMessage message) throws JMSException {
        byte[] body = new byte[Math.toIntExact(message.getBodyLength())];
        message.reset();
        message.readBytes(body);
        return body;
    }

    private Attributes.Broker broker(Message message) throws JMSException {
        long time = message.getJMSTimestamp();
        return new Attributes.Broker(
                id(message),
                message.getJMSType(),
                message.getStringProperty("JMSXGroupID"),
                time == 0 ? null : Instant.ofEpochMilli(time));
    }

    private @Nullable String id(Message message) throws JMSException {
        boolean readable = message instanceof BytesMessage || message instanceof TextMessage;
        String own = message.getStringProperty(ID);
        if (own != null || !idOfBroker || !readable) {
            return readable ? own : null;
        }
        String first = message.getStringProperty(Outgoing.FIRST_ID);
        return first != null ? first : message.getJMSMessageID();
    }

    int failures(Message message) {
        try {
            return message.propertyExists(FAILURES) ? message.getIntProperty(FAILURES) : 0;
        } catch (JMSException | NumberFormatException notOurs) {
            return 0;
        }
    }
}
