package dev.idem.cli.demo;

import dev.idem.Consumer;
import dev.idem.Inbox;

/** The consumer's side of a real broker. */
interface BrokerClient {
    /** With Idem's listener. */
    AutoCloseable listen(Consumer consumer, Inbox inbox) throws Exception;

    /** With the broker's own client and a few threads. */
    AutoCloseable loop(ByHand byHand) throws Exception;
}
