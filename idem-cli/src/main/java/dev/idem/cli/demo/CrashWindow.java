package dev.idem.cli.demo;

/** Where a delivery stops and waits for its process to be killed. */
enum CrashWindow {
    /** Nowhere; a kill may hit it at any moment all the same. */
    NONE,
    /** The charge is written and not committed: must be undone, and charged by the redelivery. */
    AFTER_EFFECT,
    /** The charge is committed and the broker does not know: comes again, and must not be charged again. */
    BEFORE_ACK
}
