package dev.idem.spi;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A terminal marker, read. Only a store that has read the row may build one: it is the evidence for a duplicate.
 *
 * @param readable the text kept beside a hashed key, null beside a verbatim one
 * @param fingerprint what the store kept of the SHA-256, possibly only its first bytes; null if none was given
 * @param markedAt when it was written, by the clock of the store
 * @param claimId which claim wrote it; recognises one's own commit after its answer was lost
 */
@SuppressWarnings("ArrayRecordComponent") // compared by prefix, never by equals
public record Marker(
        @Nullable String readable,
        byte @Nullable [] fingerprint,
        Instant markedAt,
        String claimId,
        @Nullable StoredResult result) {}
