package dev.idem.jackson;

import dev.idem.Message;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.cfg.JsonNodeFeature;

/** JSON that wraps a message, as a tree that loses nothing when it is written again. Stateless. */
final class JsonTree {
    /** A number keeps its digits: an amount must not be rounded on its way to the handler. */
    private static final ObjectReader READER = Json.defaultMapper()
            .readerFor(JsonNode.class)
            .with(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .with(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .without(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES);

    private JsonTree() {}

    /** @throws IllegalArgumentException if it is not an object of JSON */
    static JsonNode of(byte[] payload) {
        try {
            JsonNode tree = READER.readValue(payload);
            if (tree == null || !tree.isObject()) {
                throw new IllegalArgumentException("The payload is not a JSON object");
            }
            return tree;
        } catch (JacksonException malformed) { // its text quotes the payload
            throw new IllegalArgumentException(
                    "The payload is not an event: " + malformed.getClass().getName());
        }
    }

    static Optional<String> text(JsonNode object, String field) {
        JsonNode value = object.get(field);
        return value != null && value.isString() ? Optional.of(value.stringValue()) : Optional.empty();
    }

    static Optional<Instant> time(String text) {
        try {
            return Optional.of(OffsetDateTime.parse(text).toInstant());
        } catch (DateTimeException malformed) {
            return Optional.empty();
        }
    }

    /** Adds a header, unless the message has one of that name. */
    static void header(String name, Optional<String> value, Message message, Message.Builder to) {
        if (message.headers(name).isEmpty()) {
            value.ifPresent(text -> to.header(name, text));
        }
    }
}
