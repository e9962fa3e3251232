package dev.idem;

import dev.idem.spi.MarkerKey;
import org.jspecify.annotations.Nullable;

/** What the door knows of a delivery's identity: the key to claim, or why there is none. */
sealed interface Keyed {
    record Key(MarkerKey key) implements Keyed {}

    record Without(Rejection reason, String detail) implements Keyed {
        <T extends @Nullable Object> Outcome<T> rejected() {
            return new Outcome.Rejected<>(reason, detail);
        }
    }
}
