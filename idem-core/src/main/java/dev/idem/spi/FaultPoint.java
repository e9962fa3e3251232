package dev.idem.spi;

/** The steps of a unit, in order. Between any two of them a process may die; each has a crash test. */
public enum FaultPoint {
    BEFORE_CLAIM,
    AFTER_CLAIM,
    BEFORE_HANDLER,
    AFTER_HANDLER,
    BEFORE_COMMIT,
    AFTER_COMMIT,
    BEFORE_ROLLBACK,
    AFTER_ROLLBACK,
    BEFORE_RETRY,
    BEFORE_SETTLEMENT
}
