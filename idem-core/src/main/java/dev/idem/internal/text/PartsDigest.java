package dev.idem.internal.text;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/**
 * SHA-256 over texts, each with its length before it: absent and empty differ, and no two lists of texts give the same bytes.
 * Used by one thread.
 */
public final class PartsDigest {
    private static final int ABSENT = -1;

    private final MessageDigest sha = Sha256.digest();

    public PartsDigest add(@Nullable String part) {
        byte[] bytes = part == null ? new byte[0] : part.getBytes(StandardCharsets.UTF_8);
        sha.update(ByteBuffer.allocate(Integer.BYTES)
                .putInt(part == null ? ABSENT : bytes.length)
                .array());
        sha.update(bytes);
        return this;
    }

    /** Adds a text behind a negative length, so that no list without it gives the same bytes. */
    public PartsDigest addApart(int mark, String part) {
        sha.update(ByteBuffer.allocate(Integer.BYTES).putInt(mark).array());
        return add(part);
    }

    public byte[] bytes() {
        return sha.digest();
    }
}
