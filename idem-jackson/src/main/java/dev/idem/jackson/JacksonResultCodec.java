package dev.idem.jackson;

import dev.idem.ResultCodec;
import java.util.Objects;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;

/**
 * Keeps results as JSON. A result that a later version of the class cannot read any more is left out of the answer to a
 * duplicate; the duplicate stays one. Thread-safe.
 */
public final class JacksonResultCodec<T> implements ResultCodec<T> {
    private final ObjectReader reader;
    private final ObjectWriter writer;
    private final Class<T> type;

    private JacksonResultCodec(ObjectMapper mapper, Class<T> type) {
        this.reader = mapper.readerFor(type);
        this.writer = mapper.writerFor(type);
        this.type = type;
    }

    /** With the same mapper as {@link JacksonDecoder#of(Class)}. */
    public static <T> JacksonResultCodec<T> of(Class<T> type) {
        return of(Json.defaultMapper(), type);
    }

    /**
     * With the application's own mapper.
     *
     * @throws IllegalArgumentException if the mapper has default typing switched on
     */
    public static <T> JacksonResultCodec<T> of(ObjectMapper mapper, Class<T> type) {
        return new JacksonResultCodec<>(Json.checked(mapper), Objects.requireNonNull(type, "type"));
    }

    /** Always "json": a result stays readable when its class is renamed. */
    @Override
    public String name() {
        return "json";
    }

    @Override
    public byte[] encode(T result) {
        return writer.writeValueAsBytes(result);
    }

    @Override
    public T decode(byte[] bytes) {
        return type.cast(reader.readValue(bytes));
    }
}
