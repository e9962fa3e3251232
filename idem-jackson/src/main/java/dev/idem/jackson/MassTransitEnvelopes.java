package dev.idem.jackson;

import static dev.idem.jackson.JsonTree.text;

import dev.idem.Message;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.StructuredEvents;
import dev.idem.queue.Outbox;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Opens the envelopes in which MassTransit sends its messages. The message inside becomes the payload, as JSON without white space;
 * its first message type, {@code urn:message:Namespace:Name}, the type; the headers inside, those of the message. Thread-safe.
 */
public final class MassTransitEnvelopes implements StructuredEvents {
    private static final String CONTENT_TYPE = "application/vnd.masstransit+json";

    private MassTransitEnvelopes() {}

    public static MassTransitEnvelopes create() {
        return new MassTransitEnvelopes();
    }

    @Override
    public boolean understands(String contentType) {
        String type = contentType.toLowerCase(Locale.ROOT).strip();
        return type.equals(CONTENT_TYPE) || type.startsWith(CONTENT_TYPE + ";");
    }

    @Override
    public Message read(Message message) {
        JsonNode envelope = JsonTree.of(message.payload());
        JsonNode inside = envelope.get("message");
        if (inside == null) {
            throw new IllegalArgumentException("The envelope has no message");
        }
        Message.Builder read = message.toBuilder();
        Optional<String> correlation = text(envelope, "correlationId").or(() -> text(envelope, "conversationId"));
        JsonTree.header(Outbox.CORRELATION_ID, correlation, message, read);
        JsonTree.header(Outbox.CAUSATION_ID, text(envelope, "initiatorId"), message, read);
        headers(envelope, message, read);
        return read.id(message.id().or(() -> text(envelope, "messageId")).orElse(null))
                .source(message.source().or(() -> source(envelope)).orElse(null))
                .type(message.type().or(() -> type(envelope)).orElse(null))
                .eventTime(message.eventTime()
                        .or(() -> text(envelope, "sentTime").flatMap(JsonTree::time))
                        .orElse(null))
                .contentType("application/json")
                .payload(inside.toString().getBytes(StandardCharsets.UTF_8))
                .build();
    }

    private static Optional<String> type(JsonNode envelope) {
        JsonNode types = envelope.get("messageType");
        JsonNode first = types == null ? null : types.get(0);
        return first != null && first.isString() ? Optional.of(first.stringValue()) : Optional.empty();
    }

    /** A temporary queue is another one in each process, so it does not say who made the message. */
    private static Optional<String> source(JsonNode envelope) {
        return text(envelope, "sourceAddress")
                .filter(address -> !address.contains("temporary=true"))
                .map(address -> address.split("\\?", 2)[0]);
    }

    private static void headers(JsonNode envelope, Message message, Message.Builder read) {
        JsonNode headers = envelope.get("headers");
        if (headers == null || !headers.isObject()) {
            return;
        }
        headers.properties().forEach(header -> {
            if (header.getValue().isValueNode() && !DeadLetter.isOurs(header.getKey())) {
                JsonTree.header(header.getKey(), Optional.of(header.getValue().asString()), message, read);
            }
        });
    }
}
