package dev.idem.broker;

/** How a {@link Listener} is. */
public enum ListenerState {
    /** It was built, and has not reached its broker yet. */
    STARTING,
    RUNNING,
    /** It takes nothing more from the broker until it is resumed. */
    PAUSED,
    /**
     * Something is missing: the store or the broker does not answer or refuses the user, a topic or queue does not exist, dead
     * letters cannot be published. {@link Listener#waiting} says what. It tries again by itself; nothing is lost meanwhile.
     */
    WAITING,
    /** It takes nothing more, and finishes what it has begun. */
    CLOSING,
    CLOSED,
    /** It gave up, for a reason that waiting does not cure; see {@link Listener#failure}. It can be restarted. */
    FAILED
}
