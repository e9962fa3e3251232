package dev.idem;

import dev.idem.spi.MarkerKey;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What the door knows of a delivery's identity: the key to claim, or why there is none. */
sealed interface Keyed {
    /**
     * The key to claim.
     *
     * @param made when the id was made, if the id itself says so
     */
    record Key(MarkerKey key, @Nullable Instant made) implements Keyed {}

    record Without(Rejection reason, String detail) implements Keyed {
        <T extends @Nullable Object> Outcome<T> rejected() {
            return new Outcome.Rejected<>(reason, detail);
        }
    }
}
