package dev.idem.bench.contender;

import dev.idem.Consumer;
import dev.idem.Inbox;

/** A broker that was started to be measured, and the two ways to take messages from it. Used by one thread. */
public interface Broker extends AutoCloseable {
    /** Makes so many messages ready for whoever begins next to take them. */
    void fill(int messages) throws Exception;

    /** Takes them with the broker's own client, in the loop that everybody writes. */
    Taking loop(Contender contender, Meter meter) throws Exception;

    /** Takes them with Idem, which has the defaults for everything. */
    Taking listen(Consumer consumer, Inbox inbox) throws Exception;

    /** How many of them were not acknowledged. Asked when nobody takes any more. */
    long left() throws Exception;

    @Override
    void close();

    /** Goes on until it is closed, and then acknowledges what is done. */
    @FunctionalInterface
    interface Taking extends AutoCloseable {
        @Override
        void close() throws Exception;
    }
}
