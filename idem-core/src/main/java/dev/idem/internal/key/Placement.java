package dev.idem.internal.key;

import dev.idem.Rejection;
import dev.idem.spi.StreamVersion;

/** Where a message stands in its stream, or why that is not known. */
public sealed interface Placement {
    record At(StreamVersion place) implements Placement {}

    record None(String detail) implements Placement {
        public Keyed.Without rejected() {
            return new Keyed.Without(Rejection.NO_VERSION, detail);
        }
    }
}
