package dev.idem.spi;

import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A key as stores keep it: the consumer's name, 16 bytes, and the readable text beside a hashed key.
 *
 * @param value a canonical UUID id verbatim, or a version-8 UUID made from a hash; the two can never meet
 * @param readable what was hashed, injectively escaped, or null when {@code value} is the id itself; a store keeps it
 *     and returns it, and the core compares it on a hit, so that even a hash collision merges no messages
 */
public record MarkerKey(
        String consumer, UUID value, @Nullable String readable) {
    public MarkerKey {
        Objects.requireNonNull(consumer, "consumer");
        Objects.requireNonNull(value, "value");
    }

    /** The id a person would look for. */
    public String id() {
        return readable == null ? value.toString() : readable;
    }

    @Override
    public String toString() {
        return consumer + "/" + id();
    }
}
