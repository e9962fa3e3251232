package dev.idem.steps;

import dev.idem.internal.text.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.UUID;

/**
 * What a provider is given, so that it can recognise a repetition and refuse an owner from before. Immutable.
 *
 * @param value 45 characters, {@code idem_} and hexadecimal digits: made from the consumer's name (or the scope of the {@link
 *     EffectPolicy}), the key of the message and the name of the effect, so it is the same in retries, restarts and replays
 * @param fence grows whenever another worker takes the message over; a provider that remembers the highest one it has seen
 *     for a key can refuse a worker that was paused and does not know yet that it has lost the message
 */
public record EffectKey(String value, long fence) {
    public EffectKey {
        Objects.requireNonNull(value, "value");
    }

    /** A version-8 UUID made from the value, for providers that want one. */
    public UUID uuid() {
        ByteBuffer bits = ByteBuffer.wrap(Sha256.digest().digest(value.getBytes(StandardCharsets.UTF_8)));
        return new UUID(
                (bits.getLong() & 0xFFFF_FFFF_FFFF_0FFFL) | 0x8000L,
                (bits.getLong() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L);
    }

    /** The value, so that the key can be put into texts. */
    @Override
    public String toString() {
        return value;
    }
}
