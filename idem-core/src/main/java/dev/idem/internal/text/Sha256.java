package dev.idem.internal.text;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Digests of SHA-256. Thread-safe. */
public final class Sha256 {
    private static final MessageDigest UNUSED = created();

    private Sha256() {}

    /** A copy of one that is never used itself: asking the security providers for each message costs more. */
    public static MessageDigest digest() {
        try {
            return (MessageDigest) UNUSED.clone();
        } catch (CloneNotSupportedException unusualProvider) {
            return created();
        }
    }

    private static MessageDigest created() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every JDK has SHA-256", impossible);
        }
    }
}
