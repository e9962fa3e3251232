package dev.idem;

/** What an adapter must tell the broker about one delivery. */
public enum Settlement {
    /** Done with it: the broker may forget the message. */
    ACK,
    /** Deliver it again, later. */
    RETRY,
    /** Set it aside: delivering it again would not help. */
    DEAD_LETTER
}
