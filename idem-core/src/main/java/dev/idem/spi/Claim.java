package dev.idem.spi;

/** The answer to a claim. */
public sealed interface Claim {
    /** The caller holds the key until the unit ends, and must end it. */
    record Granted(Unit unit) implements Claim {}

    /** The key is done: its terminal marker was read. */
    record Taken(Marker marker) implements Claim {}

    /** Another delivery holds the key; it may still roll back. */
    record Busy() implements Claim {}
}
