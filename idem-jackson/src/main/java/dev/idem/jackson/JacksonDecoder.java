package dev.idem.jackson;

import dev.idem.Message;
import dev.idem.PayloadDecoder;
import java.util.Objects;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.ObjectReader;

/**
 * Decodes JSON payloads into one class, which the code names and no message can change. What is not such a payload makes
 * the message {@code Rejected}; its text is not quoted. Thread-safe.
 *
 * <p>A tolerant reader: properties the class does not have are ignored, so that a producer may add some before its
 * consumers know them. Everything else is strict: an empty payload, the JSON {@code null} and anything behind the first
 * value are refused. Before and while it parses, hostile input meets caps: 16 MiB in all, 100 levels of nesting, 100
 * digits in a number, 1000 characters in a property's name.
 */
public final class JacksonDecoder<E> implements PayloadDecoder<E> {
    private final ObjectReader reader;
    private final Class<E> type;
    private final int maxBytes;

    private JacksonDecoder(ObjectReader reader, Class<E> type, int maxBytes) {
        this.reader = reader;
        this.type = type;
        this.maxBytes = maxBytes;
    }

    /** With the mapper described above. */
    public static <E> JacksonDecoder<E> of(Class<E> type) {
        return of(Json.defaultMapper(), type);
    }

    /**
     * With the application's own mapper: its features, modules and read constraints hold; of the caps above only the
     * size does.
     *
     * @throws IllegalArgumentException if the mapper has default typing switched on
     */
    public static <E> JacksonDecoder<E> of(ObjectMapper mapper, Class<E> type) {
        Objects.requireNonNull(type, "type");
        return new JacksonDecoder<>(Json.checked(mapper).readerFor(type), type, Json.MAX_BYTES);
    }

    /** Refuses payloads larger than that before it parses them; default 16 MiB, which is also the most. */
    public JacksonDecoder<E> maxBytes(int bytes) {
        if (bytes < 1 || bytes > Json.MAX_BYTES) {
            throw new IllegalArgumentException(
                    "maxBytes is " + bytes + ", but must be between 1 and " + Json.MAX_BYTES);
        }
        return new JacksonDecoder<>(reader, type, bytes);
    }

    @Override
    public E decode(Message message) {
        byte[] payload = message.payload();
        if (payload.length > maxBytes) {
            throw new IllegalArgumentException(
                    "The payload has " + payload.length + " bytes, at most " + maxBytes + " are decoded");
        }
        E event = type.cast(reader.readValue(payload));
        if (event == null) {
            throw new IllegalArgumentException("The payload is null, not a " + type.getName());
        }
        return event;
    }
}
