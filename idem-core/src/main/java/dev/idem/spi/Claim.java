package dev.idem.spi;

import dev.idem.StoreException;
import java.time.Instant;

/** The answer to a claim. */
public sealed interface Claim {
    /** The caller holds the key until the unit ends, and must end it. */
    record Granted(UnitOfWork unit) implements Claim {}

    /** The key is done: its terminal marker was read. */
    record Taken(Marker marker) implements Claim {}

    /** Another delivery holds the key; it may still roll back. */
    record Busy() implements Claim {}

    /**
     * The key is of a time from which the store keeps nothing any more, so that nobody can say whether it is done, nor
     * write down that it is.
     *
     * @param horizon the oldest time from which markers are kept
     */
    record Forgotten(Instant horizon) implements Claim {}

    /**
     * The key is of a time so far ahead that the store will have no place for it before long: no clock is that wrong.
     *
     * @param latest up to when there may be places
     */
    record Unforeseen(Instant latest) implements Claim {}

    /** The store has no place for the key yet; the delivery must come again. */
    record Unplaced(StoreException reason) implements Claim {}
}
