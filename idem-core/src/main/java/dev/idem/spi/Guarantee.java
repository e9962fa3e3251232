package dev.idem.spi;

/** What a store can promise; printed by the doctor, the console and the docs. */
public enum Guarantee {
    /** Marker and effect commit in one transaction: exactly once for effects in the same database. */
    EXACTLY_ONCE,
    /** At most one completed run; a crash between effect and completion may repeat the body. */
    EFFECTIVELY_ONCE,
    /** Holds until the process ends; for unit tests. */
    WITHIN_PROCESS
}
