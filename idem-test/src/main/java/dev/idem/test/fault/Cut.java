package dev.idem.test.fault;

/** Where {@link TcpFaultProxy#cutWhen(Direction, String, Cut)} cuts a connection. */
public enum Cut {
    /** The pattern does not arrive (its beginning may have, if it was sent in pieces). */
    BEFORE,

    /** The pattern arrives, with all that was read from the network together with it. */
    AFTER,

    /**
     * The pattern arrives and is answered, and the answer is dropped: the work is done, and its sender never hears of
     * it.
     */
    AFTER_REPLY
}
