package dev.idem.internal.unit;

import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Outcome.Duplicate.State;
import dev.idem.Rejection;
import dev.idem.ResultCodec;
import dev.idem.spi.Marker;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one place that says what a marker means for a delivery, so that no path can skip a comparison. */
public final class Verdict {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);

    private Verdict() {}

    public static <T extends @Nullable Object> Outcome<T> of(
            MarkerKey key, byte @Nullable [] fingerprint, Marker marker, Delivery<T, ?> attempt) {
        return of(key, fingerprint, marker, attempt.codec(), attempt.consumer().stateOfDuplicates());
    }

    static <T extends @Nullable Object> Outcome<T> of(
            MarkerKey key, byte @Nullable [] fingerprint, Marker marker, @Nullable ResultCodec<T> codec, State state) {
        if (!key.isNamed(marker.readable())) {
            return new Outcome.Rejected<>(
                    Rejection.KEY_COLLISION, key + " has the same hash as another key that is already processed");
        }
        if (differs(fingerprint, marker.fingerprint())) {
            return new Outcome.Conflict<>(marker.markedAt());
        }
        return new Outcome.Duplicate<>(state, marker.markedAt(), result(key, marker.result(), codec));
    }

    /** A store may keep fewer bytes than it was given; a consumer may have switched fingerprints on or off. */
    private static boolean differs(byte @Nullable [] given, byte @Nullable [] kept) {
        return given != null
                && kept != null
                && !Arrays.equals(Arrays.copyOf(given, Math.min(given.length, kept.length)), kept);
    }

    private static <T extends @Nullable Object> Optional<T> result(
            MarkerKey key, @Nullable StoredResult stored, @Nullable ResultCodec<T> codec) {
        if (stored == null || codec == null) {
            return Optional.empty();
        }
        if (!stored.codec().equals(codec.name())) {
            log.warn("{}: its result was stored by codec {}, not {}; left out", key, stored.codec(), codec.name());
            return Optional.empty();
        }
        try {
            return Optional.ofNullable(codec.decode(stored.bytes()));
        } catch (Exception unreadable) {
            // The exception's text may quote the result, so only its type is told.
            log.warn("{}: its stored result cannot be decoded ({}); left out", key, unreadable.getClass());
            return Optional.empty();
        }
    }
}
