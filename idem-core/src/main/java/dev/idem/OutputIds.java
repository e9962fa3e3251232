package dev.idem;

import dev.idem.spi.MarkerKey;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Ids of what a handler puts out, made from the key of its message, so that a run that is repeated makes the same ones. Where
 * the input's key is a UUIDv7, so is the output's, with the same time: the receiver's index keeps its order. Else it is of
 * version 8.
 */
final class OutputIds {
    private OutputIds() {}

    /** The id of the n-th message that is published for an input, or in one step of it. */
    static String ofIndex(MarkerKey input, @Nullable String step, int index) {
        return derived(input, step == null ? "index" : "step " + step, Integer.toString(index));
    }

    /** The id for something that the user has named. */
    static String ofPurpose(MarkerKey input, String purpose) {
        return derived(input, "purpose", purpose);
    }

    private static String derived(MarkerKey input, String kind, String name) {
        ByteBuffer hash = ByteBuffer.wrap(Fingerprint.sha256().digest(bytes(input, kind, name)));
        long high = hash.getLong();
        long low = (hash.getLong() & 0x3FFF_FFFF_FFFF_FFFFL) | Long.MIN_VALUE;
        boolean timed = input.value().version() == 7;
        long time = input.value().getMostSignificantBits() & ~0xFFFFL;
        return new UUID(timed ? time | 0x7000L | (high & 0xFFFL) : (high & ~0xF000L) | 0x8000L, low).toString();
    }

    /** Each part with its length before it, so that no two inputs give the same bytes. */
    private static byte[] bytes(MarkerKey input, String kind, String name) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            for (String part :
                    new String[] {"idem-output", input.consumer(), input.value().toString(), kind, name}) {
                byte[] utf8 = part.getBytes(StandardCharsets.UTF_8);
                out.writeInt(utf8.length);
                out.write(utf8);
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException("memory cannot be written", impossible);
        }
        return bytes.toByteArray();
    }
}
