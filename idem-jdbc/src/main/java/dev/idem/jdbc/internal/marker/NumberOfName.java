package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.sql.Hashes;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The numbers that a consumer's name may get: 31 bits of its SHA-256, the next 31 if those are taken, and so on. Whoever
 * registers a name, and whenever, arrives at the same number, as long as the same others are registered.
 */
final class NumberOfName {
    private NumberOfName() {}

    /** In the order in which they are tried; none is 0, which stands for no consumer. */
    static int[] candidates(String name) {
        ByteBuffer hash = ByteBuffer.wrap(Hashes.sha256(name.getBytes(StandardCharsets.UTF_8)));
        int[] candidates = new int[hash.capacity() / Integer.BYTES];
        for (int i = 0; i < candidates.length; i++) {
            candidates[i] = Math.max(1, hash.getInt() >>> 1);
        }
        return candidates;
    }
}
