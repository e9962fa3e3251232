package dev.idem.broker;

import dev.idem.Message;
import dev.idem.queue.Outbox;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** What a message says about itself, as text. */
@SuppressWarnings("ImmutableEnumChecker") // its functions keep nothing
enum Attribute {
    ID(Message::id, Message.Builder::id),
    SOURCE(Message::source, Message.Builder::source),
    TYPE(Message::type, Message.Builder::type),
    VERSION(Message::version, Message.Builder::version),
    ORDERING_KEY(Message::orderingKey, Message.Builder::orderingKey),
    CONTENT_TYPE(Message::contentType, Message.Builder::contentType),
    REPLAY_SESSION(Message::replaySession, Message.Builder::replaySession),
    TIME(
            message -> message.eventTime().map(Instant::toString),
            (message, text) -> message.eventTime(HeaderTime.of(text).orElse(null))),
    CORRELATION_ID(Message::correlationId, (message, text) -> message.header(Outbox.CORRELATION_ID, text)),
    CAUSATION_ID(Message::causationId, (message, text) -> message.header(Outbox.CAUSATION_ID, text));

    private final Function<Message, Optional<String>> getter;
    private final BiConsumer<Message.Builder, String> setter;

    Attribute(Function<Message, Optional<String>> getter, BiConsumer<Message.Builder, String> setter) {
        this.getter = getter;
        this.setter = setter;
    }

    boolean isIn(Message message) {
        return getter.apply(message).isPresent();
    }

    /** The message with these values in place of its own. */
    static Message set(Message message, Map<Attribute, String> values) {
        if (values.isEmpty()) {
            return message;
        }
        Message.Builder with = message.toBuilder();
        if (values.containsKey(CORRELATION_ID) || values.containsKey(CAUSATION_ID)) {
            with.withHeaders(message.headers().stream() // one that stands twice counts as absent
                    .filter(header -> !replaced(header.name(), values))
                    .toList());
        }
        values.forEach((attribute, text) -> attribute.setter.accept(with, text));
        return with.build();
    }

    private static boolean replaced(String header, Map<Attribute, String> values) {
        return (header.equals(Outbox.CORRELATION_ID) && values.containsKey(CORRELATION_ID))
                || (header.equals(Outbox.CAUSATION_ID) && values.containsKey(CAUSATION_ID));
    }
}
