package dev.idem.test.fault;

/** How many bytes of a chunk pass, and what then happens to the connection. */
record Verdict(int pass, Action action) {
    enum Action {
        FLOW,
        CUT,
        DROP_REPLY
    }
}
