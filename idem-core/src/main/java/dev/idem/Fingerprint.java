package dev.idem;

import dev.idem.internal.text.Sha256;
import java.security.InvalidKeyException;
import java.security.NoSuchAlgorithmException;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What of a message must be equal when its key is: by default the payload's bytes as they arrived. A second message with
 * the same key and another fingerprint is a {@link Outcome.Conflict}, on every path. Thread-safe.
 */
public final class Fingerprint {
    private static final int SHORTEST_SECRET = 16;
    private static final Fingerprint PAYLOAD = new Fingerprint(message -> Optional.of(message.rawPayload()));
    private static final Fingerprint OFF = new Fingerprint(message -> Optional.empty());

    private final Function<Message, Optional<byte[]>> projection;

    private Fingerprint(Function<Message, Optional<byte[]>> projection) {
        this.projection = projection;
    }

    /** SHA-256 of the payload's bytes. The default. */
    public static Fingerprint ofPayload() {
        return PAYLOAD;
    }

    /** SHA-256 of a chosen part, for producers that send the same fact with a new timestamp in the payload. */
    public static Fingerprint of(Function<Message, byte[]> projection) {
        Objects.requireNonNull(projection, "projection");
        return new Fingerprint(message -> Optional.of(projection.apply(message)));
    }

    /**
     * HMAC-SHA-256 of the payload's bytes with a secret of at least 16 bytes, for producers that are not trusted. A store keeps only
     * the first bytes of a fingerprint, and somebody who can compute it finds another payload with the same ones in minutes; without
     * the secret nobody can. All instances of a consumer need the same secret. With another one every redelivery of what was
     * processed before is a {@link Outcome.Conflict}, so change it together with the consumer's name.
     */
    public static Fingerprint keyed(byte[] secret) {
        SecretKeySpec key = checked(secret);
        return new Fingerprint(message -> Optional.of(hmac(key, message.rawPayload())));
    }

    static SecretKeySpec checked(byte[] secret) {
        if (secret.length < SHORTEST_SECRET) {
            throw new IllegalArgumentException(
                    "the secret has " + secret.length + " bytes, but must have at least " + SHORTEST_SECRET);
        }
        return new SecretKeySpec(secret, "HmacSHA256");
    }

    static byte[] hmac(SecretKeySpec key, byte[] payload) {
        try {
            Mac mac = Mac.getInstance(key.getAlgorithm());
            mac.init(key);
            return mac.doFinal(payload);
        } catch (NoSuchAlgorithmException | InvalidKeyException impossible) {
            throw new IllegalStateException("every JDK has HMAC-SHA-256", impossible);
        }
    }

    /** No comparison: the same key is the same message, whatever it carries. */
    public static Fingerprint off() {
        return OFF;
    }

    public Optional<byte[]> digest(Message message) {
        return projection.apply(message).map(bytes -> Sha256.digest().digest(bytes));
    }
}
