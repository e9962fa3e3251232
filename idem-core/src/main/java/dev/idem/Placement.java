package dev.idem;

import dev.idem.spi.StreamVersion;

/** Where a message stands in its stream, or why that is not known. */
sealed interface Placement {
    record At(StreamVersion place) implements Placement {}

    record None(String detail) implements Placement {
        Keyed.Without rejected() {
            return new Keyed.Without(Rejection.NO_VERSION, detail);
        }
    }
}
