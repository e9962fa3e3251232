package dev.idem.jms;

import dev.idem.Message;
import jakarta.jms.JMSException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a message was taken for when it first arrived, on the copies that are made of it: where its attributes stood need not
 * survive a copy, because names of properties do not all.
 */
final class Identity {
    private static final String PREFIX = "idem_of_";

    private Identity() {}

    static void write(Message message, jakarta.jms.Message copy) throws JMSException {
        set(copy, "id", message.id());
        set(copy, "source", message.source());
        set(copy, "type", message.type());
        set(copy, "version", message.version());
        set(copy, "key", message.orderingKey());
        set(copy, "time", message.eventTime().map(Instant::toString));
    }

    private static void set(jakarta.jms.Message copy, String name, Optional<String> value) throws JMSException {
        if (value.isPresent()) {
            copy.setStringProperty(PREFIX + name, value.get());
        }
    }

    /** The message as it was taken then, if this is a copy. */
    static Message read(Message message, jakarta.jms.Message delivered) throws JMSException {
        Message.Builder known = message.toBuilder();
        if (get(delivered, "id") != null) {
            known.id(get(delivered, "id"));
        }
        if (get(delivered, "source") != null) {
            known.source(get(delivered, "source"));
        }
        if (get(delivered, "type") != null) {
            known.type(get(delivered, "type"));
        }
        if (get(delivered, "version") != null) {
            known.version(get(delivered, "version"));
        }
        if (get(delivered, "key") != null) {
            known.orderingKey(get(delivered, "key"));
        }
        Instant time = time(get(delivered, "time"));
        return (time == null ? known : known.eventTime(time)).build();
    }

    private static @Nullable String get(jakarta.jms.Message delivered, String name) throws JMSException {
        return delivered.getStringProperty(PREFIX + name);
    }

    private static @Nullable Instant time(@Nullable String text) {
        try {
            return text == null ? null : Instant.parse(text);
        } catch (DateTimeException notOurs) {
            return null;
        }
    }
}
