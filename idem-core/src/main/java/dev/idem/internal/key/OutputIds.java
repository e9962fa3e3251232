package dev.idem.internal.key;

import dev.idem.internal.text.PartsDigest;
import dev.idem.spi.MarkerKey;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Ids of what a handler puts out, made from its consumer's scope and the key of its message, so that a run that is repeated makes the same ones. Where
 * the input's key is a UUIDv7, so is the output's, with the same time: the receiver's index keeps its order. Else it is of
 * version 8.
 */
public final class OutputIds {
    private OutputIds() {}

    /**
     * The id of the n-th message that is published for an input, or in one step of it.
     *
     * @param timed whether the input's key begins with a time
     */
    public static String ofIndex(String scope, MarkerKey input, boolean timed, @Nullable String step, int index) {
        return derived(scope, input, timed, step == null ? "index" : "step " + step, Integer.toString(index));
    }

    /** The id for something that the user has named. */
    public static String ofPurpose(String scope, MarkerKey input, boolean timed, String purpose) {
        return derived(scope, input, timed, "purpose", purpose);
    }

    private static String derived(String scope, MarkerKey input, boolean timed, String kind, String name) {
        ByteBuffer hash = ByteBuffer.wrap(new PartsDigest()
                .add("idem-output")
                .add(scope)
                .add(input.value().toString())
                .add(kind)
                .add(name)
                .bytes());
        long high = hash.getLong();
        long low = (hash.getLong() & 0x3FFF_FFFF_FFFF_FFFFL) | Long.MIN_VALUE;
        long time = input.value().getMostSignificantBits() & ~0xFFFFL;
        return new UUID(timed ? time | 0x7000L | (high & 0xFFFL) : (high & ~0xF000L) | 0x8000L, low).toString();
    }
}
