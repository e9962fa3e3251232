package dev.idem.broker;

/** How a listener is. */
public enum ListenerState {
    /** It was built, and has not reached its broker yet. */
    STARTING,
    RUNNING,
    /** The store or the broker does not answer. It tries again by itself; nothing is acknowledged meanwhile. */
    WAITING,
    /** It takes nothing more, and finishes what it has begun. */
    CLOSING,
    CLOSED,
    /** It gave up, for a reason that waiting does not cure; see its log. A new one must be built. */
    FAILED
}
