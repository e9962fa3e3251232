package dev.idem.jms;

import dev.idem.Header;
import dev.idem.Message;
import dev.idem.broker.DeliveryHeaders;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a message was taken for when it first arrived, on the copies that are made of it: where its attributes stood need not
 * survive a copy, because names of properties do not all. Believed only under a seal, or on a dead letter.
 */
final class Identity {
    private static final String PREFIX = "idem-of-";

    private static final List<Attribute> ALL = List.of(
            new Attribute(PREFIX + "id", Message::id, Message.Builder::id),
            new Attribute(PREFIX + "source", Message::source, Message.Builder::source),
            new Attribute(PREFIX + "type", Message::type, Message.Builder::type),
            new Attribute(PREFIX + "version", Message::version, Message.Builder::version),
            new Attribute(PREFIX + "key", Message::orderingKey, Message.Builder::orderingKey),
            new Attribute(
                    PREFIX + "time",
                    message -> message.eventTime().map(Instant::toString),
                    (message, text) -> message.eventTime(time(text))),
            new Attribute( // copies do not expire
                    PREFIX + "expires",
                    message -> message.header(DeliveryHeaders.EXPIRES),
                    (message, text) -> message.header(DeliveryHeaders.EXPIRES, text)));

    private Identity() {}

    private record Attribute(
            String header, Function<Message, Optional<String>> getter, BiConsumer<Message.Builder, String> setter) {}

    static List<Header> of(Message message) {
        List<Header> all = new ArrayList<>();
        for (Attribute attribute : ALL) {
            attribute.getter.apply(message).ifPresent(text -> all.add(new Header(attribute.header, text)));
        }
        return all;
    }

    /** The message as it was taken then, if these headers say it. */
    static Message read(Message message, List<Header> headers) {
        if (headers.isEmpty()) {
            return message;
        }
        Message.Builder known = message.toBuilder();
        for (Attribute attribute : ALL) {
            headers.stream()
                    .filter(header -> header.name().equals(attribute.header))
                    .findFirst()
                    .ifPresent(header -> attribute.setter.accept(known, header.text()));
        }
        return known.build();
    }

    /** Whether a copy that is sent again keeps this header of ours. */
    static boolean isPart(String header) {
        return header.startsWith(PREFIX);
    }

    private static @Nullable Instant time(String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeException notOurs) {
            return null;
        }
    }
}
