package dev.idem.jackson;

import dev.idem.Message;
import dev.idem.broker.StructuredEvents;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectReader;

/**
 * Reads CloudEvents in structured mode, as JSON. The event's data becomes the payload: the bytes of {@code data_base64}, the
 * text of a string whose content type is not JSON, or else the JSON of {@code data}, written anew without white space. An
 * attribute that stands twice makes it no event. Thread-safe.
 */
public final class JacksonEvents implements StructuredEvents {
    private static final String CONTENT_TYPE = "application/cloudevents+json";

    private final ObjectReader reader;

    private JacksonEvents(ObjectReader reader) {
        this.reader = reader;
    }

    public static JacksonEvents create() {
        return new JacksonEvents(
                Json.defaultMapper().readerFor(JsonNode.class).with(StreamReadFeature.STRICT_DUPLICATE_DETECTION));
    }

    @Override
    public boolean understands(String contentType) {
        String type = contentType.toLowerCase(Locale.ROOT).strip();
        return type.equals(CONTENT_TYPE) || type.startsWith(CONTENT_TYPE + ";");
    }

    @Override
    public Message read(Message message) {
        JsonNode event = parsed(message.payload());
        String contentType = text(event, "datacontenttype").orElse("application/json");
        return message.toBuilder()
                .id(message.id().orElse(text(event, "id").orElse(null)))
                .source(message.source().orElse(text(event, "source").orElse(null)))
                .type(message.type().orElse(text(event, "type").orElse(null)))
                .orderingKey(
                        message.orderingKey().orElse(text(event, "partitionkey").orElse(null)))
                .eventTime(message.eventTime()
                        .orElse(text(event, "time").map(JacksonEvents::time).orElse(null)))
                .contentType(contentType)
                .payload(data(event, contentType))
                .build();
    }

    private JsonNode parsed(byte[] payload) {
        try {
            JsonNode event = reader.readValue(payload);
            if (event == null || !event.isObject()) {
                throw new IllegalArgumentException("The payload is not a JSON object");
            }
            return event;
        } catch (JacksonException malformed) { // its text quotes the payload
            throw new IllegalArgumentException(
                    "The payload is not an event: " + malformed.getClass().getName());
        }
    }

    private static Optional<String> text(JsonNode event, String attribute) {
        JsonNode value = event.get(attribute);
        return value != null && value.isString() ? Optional.of(value.stringValue()) : Optional.empty();
    }

    private static @Nullable Instant time(String text) {
        try {
            return OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException malformed) {
            return null;
        }
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
