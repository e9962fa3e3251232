package dev.idem.jms;

import jakarta.jms.Session;

/** How a listener tells the broker that messages are done. */
public enum Acknowledging {
    /**
     * All messages of a batch together, with the dead letters and the postponed copies, in one transaction of the broker's.
     * Every provider has this; the default.
     */
    TRANSACTED(Session.SESSION_TRANSACTED),
    /**
     * Each message by itself, after what was published for it. For providers that have it and no transactions, or poor ones.
     * Artemis and Qpid JMS do, under this number.
     */
    INDIVIDUAL(101);

    private final int mode;

    Acknowledging(int mode) {
        this.mode = mode;
    }

    int mode() {
        return mode;
    }
}
