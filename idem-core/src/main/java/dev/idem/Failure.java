package dev.idem;

/** Whose fault a failed delivery is, and whether another try can help. */
public enum Failure {
    /** The handler failed and may succeed later. */
    RETRYABLE,
    /** The handler failed and would fail again. */
    TERMINAL,
    /** The store or the process failed, not the message: comes again and never counts as an attempt. */
    INFRASTRUCTURE
}
