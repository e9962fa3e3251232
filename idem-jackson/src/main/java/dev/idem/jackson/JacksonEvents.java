package dev.idem.jackson;

import static dev.idem.jackson.JsonTree.text;

import dev.idem.Message;
import dev.idem.broker.StructuredEvents;
import dev.idem.queue.Outbox;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Reads CloudEvents in structured mode, as JSON. The event's data becomes the payload: the bytes of {@code data_base64}, the
 * text of a string whose content type is not JSON, or else the JSON of {@code data}, written anew without white space. An
 * attribute that stands twice makes it no event. Thread-safe.
 */
public final class JacksonEvents implements StructuredEvents {
    private static final String CONTENT_TYPE = "application/cloudevents+json";

    private JacksonEvents() {}

    public static JacksonEvents create() {
        return new JacksonEvents();
    }

    @Override
    public boolean understands(String contentType) {
        String type = contentType.toLowerCase(Locale.ROOT).strip();
        return type.equals(CONTENT_TYPE) || type.startsWith(CONTENT_TYPE + ";");
    }

    @Override
    public Message read(Message message) {
        JsonNode event = JsonTree.of(message.payload());
        String contentType = text(event, "datacontenttype").orElse("application/json");
        Message.Builder read = message.toBuilder();
        JsonTree.header(Outbox.CORRELATION_ID, text(event, "correlationid"), message, read);
        JsonTree.header(Outbox.CAUSATION_ID, text(event, "causationid"), message, read);
        return read.id(message.id().orElse(text(event, "id").orElse(null)))
                .source(message.source().orElse(text(event, "source").orElse(null)))
                .type(message.type().orElse(text(event, "type").orElse(null)))
                .orderingKey(
                        message.orderingKey().orElse(text(event, "partitionkey").orElse(null)))
                .eventTime(message.eventTime()
                        .orElse(text(event, "time").flatMap(JsonTree::time).orElse(null)))
                .contentType(contentType)
                .payload(data(event, contentType))
                .build();
    }

    private static byte[] data(JsonNode event, String contentType) {
        Optional<String> base64 = text(event, "data_base64");
        if (base64.isPresent()) {
            return Base64.getDecoder().decode(base64.get());
        }
        JsonNode data = event.get("data");
        if (data == null || data.isNull()) {
            return new byte[0];
        }
        boolean json = contentType.toLowerCase(Locale.ROOT).contains("json");
        String text = data.isString() && !json ? data.stringValue() : data.toString();
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
