package dev.idem;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * What of a message must be equal when its key is: by default the payload's bytes as they arrived. A second message with
 * the same key and another fingerprint is a {@link Outcome.Conflict}, on every path. Thread-safe.
 */
public final class Fingerprint {
    private static final MessageDigest UNUSED = newSha256();
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

    /** No comparison: the same key is the same message, whatever it carries. */
    public static Fingerprint off() {
        return OFF;
    }

    Optional<byte[]> digest(Message message) {
        return projection.apply(message).map(bytes -> sha256().digest(bytes));
    }

    /** A copy of one that is never used itself: asking the security providers for each message costs more. */
    static MessageDigest sha256() {
        try {
            return (MessageDigest) UNUSED.clone();
        } catch (CloneNotSupportedException unusualProvider) {
            return newSha256();
        }
    }

    private static MessageDigest newSha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every JDK has SHA-256", impossible);
        }
    }
}
