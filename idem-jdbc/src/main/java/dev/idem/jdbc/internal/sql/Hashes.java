package dev.idem.jdbc.internal.sql;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;

/** Names of any length as a few bytes. */
public final class Hashes {
    private Hashes() {}

    public static UUID uuid(String name) {
        ByteBuffer digest = ByteBuffer.wrap(sha256(name.getBytes(StandardCharsets.UTF_8)));
        return new UUID(digest.getLong(), digest.getLong());
    }

    public static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException impossible) {
            throw new LinkageError("every Java platform has SHA-256", impossible);
        }
    }
}
