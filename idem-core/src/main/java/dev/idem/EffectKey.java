package dev.idem;

import dev.idem.spi.MarkerKey;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
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
    private static final String PREFIX = "idem_";
    private static final int BYTES = 20;

    public EffectKey {
        Objects.requireNonNull(value, "value");
    }

    static EffectKey of(String scope, MarkerKey message, String name, long fence) {
        byte[] digest = new PartsDigest()
                .add("effect")
                .add(scope)
                .add(message.value().toString())
                .add(message.id())
                .add(name)
                .bytes();
        return new EffectKey(PREFIX + HexFormat.of().formatHex(digest, 0, BYTES), fence);
    }

    /** A version-8 UUID made from the value, for providers that want one. */
    public UUID uuid() {
        ByteBuffer bits = ByteBuffer.wrap(Fingerprint.sha256().digest(value.getBytes(StandardCharsets.UTF_8)));
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
