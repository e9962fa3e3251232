package dev.idem.test.contract;

import dev.idem.Consumer;
import dev.idem.Header;
import dev.idem.Inbox;
import dev.idem.RetryPolicy;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.ListenerState;
import java.time.Duration;
import java.util.List;

/** One destination of a real broker, new for each test, with an adapter that listens to it. */
public interface BrokerUnderTest extends AutoCloseable {

    /** Sends, and waits until the broker has it. */
    void send(Sent message) throws Exception;

    /**
     * A message as a producer makes it.
     *
     * @param id the application's id, where the adapter looks for it by default; empty for none
     * @param key the ordering key
     */
    record Sent(String id, String key, String payload, List<Header> headers) {}

    /** Starts a listener of the adapter under test, as a process of its own would. */
    Listening listen(Consumer consumer, Inbox inbox, RetryPolicy retry) throws Exception;

    /** A listener that runs. */
    interface Listening {
        ListenerState state();

        /** Closes it gracefully, within about this time. */
        void close(Duration longest) throws Exception;
    }

    /** Whether a header may stand more than once. */
    default boolean repeatsHeaders() {
        return true;
    }

    /** How many messages the broker still has for the consumer: those it would deliver if everybody left now. */
    long unsettled() throws Exception;

    DeadLetters deadLetters() throws Exception;

    /** The broker goes away without a word, and keeps what it has acknowledged. */
    void kill() throws Exception;

    /** And comes back at the same address. */
    void restart() throws Exception;
}
