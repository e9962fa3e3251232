package dev.idem.spi;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A key as stores keep it: the consumer's name, 16 bytes, and the readable text beside a hashed key.
 *
 * @param value a canonical UUID id verbatim, or a version-8 UUID made from a hash; the two can never meet
 * @param readable what was hashed, injectively escaped, or null when {@code value} is the id itself; a store keeps it
 *     and returns it, and the core compares it on a hit, so that even a hash collision merges no messages; where a person had
 *     it erased, {@link #erased} of it
 */
public record MarkerKey(
        String consumer, UUID value, @Nullable String readable) {
    /** No id reads like this: behind a backslash there is only what was escaped. */
    private static final String ERASED = "\\erased:";

    /** Stands in readable texts before the session of a replayed message; a slash within a part would be escaped. */
    public static final String SESSION = "/replay=";

    public MarkerKey {
        Objects.requireNonNull(consumer, "consumer");
        Objects.requireNonNull(value, "value");
    }

    /**
     * What stays of a readable text that a person had erased: it still tells two texts apart, and names the replay session
     * if there is one.
     *
     * <p>A plain hash, against which a guess can be tested. One with a secret would hide nothing: the key beside it is a plain
     * hash too, and stays, so that a redelivery is recognised; and every process, and a person who knows the id, must find the
     * same again, so the secret would have to stand in the same database. For ids that can be guessed, {@link
     * dev.idem.KeySelector#keyed} keeps them out of both.
     */
    public static String erased(String readable) {
        if (readable.startsWith(ERASED)) {
            return readable;
        }
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(readable.getBytes(StandardCharsets.UTF_8));
            int session = readable.lastIndexOf(SESSION);
            return ERASED + HexFormat.of().formatHex(digest) + (session < 0 ? "" : readable.substring(session));
        } catch (NoSuchAlgorithmException impossible) {
            throw new LinkageError("every Java platform has SHA-256", impossible);
        }
    }

    /** Whether the text beside a marker is that of this key, be it erased or not. */
    public boolean isNamed(@Nullable String text) {
        return (text != null && text.startsWith(ERASED))
                ? readable != null && text.equals(erased(readable))
                : Objects.equals(readable, text);
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
