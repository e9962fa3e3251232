package dev.idem.internal.key;

import dev.idem.Outcome;
import dev.idem.Rejection;
import dev.idem.spi.MarkerKey;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What the door knows of a delivery's identity: the key to claim, or why there is none. */
public sealed interface Keyed {
    /**
     * The key to claim.
     *
     * @param made when the id was made, if the id itself says so
     */
    record Key(MarkerKey key, @Nullable Instant made) implements Keyed {}

    /** There is nothing to claim, whatever the reason is. */
    sealed interface Not extends Keyed {
        <T extends @Nullable Object> Outcome<T> outcome();
    }

    record Without(Rejection reason, String detail) implements Not {
        @Override
        public <T extends @Nullable Object> Outcome<T> outcome() {
            return new Outcome.Rejected<>(reason, detail);
        }
    }

    /** A replay session's message that must not run; not even unguarded. */
    record Turned(boolean suppressed, String detail) implements Not {
        @Override
        public <T extends @Nullable Object> Outcome<T> outcome() {
            return suppressed
                    ? new Outcome.Suppressed<>(detail)
                    : new Outcome.Rejected<>(Rejection.UNKNOWN_SESSION, detail);
        }
    }
}
