package dev.idem.cli.demo;

/** What goes wrong with a payment, apart from crashes. In the queued demo only. */
enum Trouble {
    NONE,
    /** The first try fails, in each process. */
    FAILS_FIRST,
    /** Every try fails: the order must never be charged, and a person has to look at it. */
    DECLINED
}
