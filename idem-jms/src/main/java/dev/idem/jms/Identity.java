package dev.idem.jms;

import dev.idem.Message;
import jakarta.jms.JMSException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a message was taken for when it first arrived, on the copies that are made of it: where its attributes stood need not
 * survive a copy, because names of properties do not all.
 */
final class Identity {
    private static final List<Attribute> ALL = List.of(
            new Attribute("idem_of_id", Message::id, Message.Builder::id),
            new Attribute("idem_of_source", Message::source, Message.Builder::source),
            new Attribute("idem_of_type", Message::type, Message.Builder::type),
            new Attribute("idem_of_version", Message::version, Message.Builder::version),
            new Attribute("idem_of_key", Message::orderingKey, Message.Builder::orderingKey),
            new Attribute(
                    "idem_of_time",
                    message -> message.eventTime().map(Instant::toString),
                    (message, text) -> message.eventTime(time(text))));

    private Identity() {}

    private record Attribute(
            String property, Function<Message, Optional<String>> getter, BiConsumer<Message.Builder, String> setter) {}

    static void write(Message message, jakarta.jms.Message copy) throws JMSException {
        for (Attribute attribute : ALL) {
            Optional<String> text = attribute.getter.apply(message);
            if (text.isPresent()) {
                copy.setStringProperty(attribute.property, text.get());
            }
        }
    }

    /** The message as it was taken then, if this is a copy. */
    static Message read(Message message, jakarta.jms.Message delivered) throws JMSException {
        Message.Builder known = message.toBuilder();
        for (Attribute attribute : ALL) {
            String text = delivered.getStringProperty(attribute.property);
            if (text != null) {
                attribute.setter.accept(known, text);
            }
        }
        return known.build();
    }

    private static @Nullable Instant time(String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeException notOurs) {
            return null;
        }
    }
}
