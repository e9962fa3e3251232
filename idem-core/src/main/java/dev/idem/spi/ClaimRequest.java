package dev.idem.spi;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a store needs to claim a key.
 *
 * @param fingerprint the full SHA-256, or null; a store may keep only a prefix
 * @param busyWait how long to wait for another delivery of the same key that is running elsewhere; zero means not at all
 * @param withResult whether a marker should be returned together with its stored result
 */
@SuppressWarnings("ArrayRecordComponent") // passed once, compared by nobody
public record ClaimRequest(MarkerKey key, byte @Nullable [] fingerprint, Duration busyWait, boolean withResult) {
    /** The same, but answered at once. */
    public ClaimRequest withoutWaiting() {
        return new ClaimRequest(key, fingerprint, Duration.ZERO, withResult);
    }
}
