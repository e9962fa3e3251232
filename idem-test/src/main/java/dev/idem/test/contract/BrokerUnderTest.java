package dev.idem.test.contract;

import dev.idem.Consumer;
import dev.idem.Header;
import dev.idem.Inbox;
import dev.idem.RetryPolicy;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Listener;
import dev.idem.broker.ListenerState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.opentest4j.TestAbortedException;

/** One destination of a real broker, new for each test, with an adapter that listens to it. */
public interface BrokerUnderTest extends AutoCloseable {

    /**
     * Sends, and waits until the broker has it. Where the broker does not allow a header's name, it is sent as the adapter
     * would write it: {@code idem_failures} for {@code idem-failures} with JMS.
     */
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

    /**
     * Starts a listener of the adapter under test with more wishes. Tests that need it are skipped, with this reason, as long
     * as an adapter does not have it.
     */
    default Listener listen(Consumer consumer, Inbox inbox, Wishes wishes) throws Exception {
        throw new TestAbortedException("this broker under test cannot listen with wishes yet");
    }

    /**
     * What a test wants of a listener.
     *
     * @param misspelt whether to listen to a destination that does not exist, and that nobody creates
     * @param patient whether the place of its letters must be one that {@link #blockPublishers} can block
     */
    record Wishes(RetryPolicy retry, long maxPendingBytes, boolean misspelt, boolean patient) {}

    /** Whether the broker makes a destination that somebody listens to, so that none can be misspelt. */
    default boolean makesDestinations() {
        return false;
    }

    /** From now on the broker takes no dead letters of this destination: their place is gone, full or forbidden. */
    default void breakLetters() throws Exception {
        throw new TestAbortedException("this broker under test cannot break the place of letters yet");
    }

    /** And takes them again. */
    default void mendLetters() throws Exception {
        throw new TestAbortedException("this broker under test cannot mend the place of letters yet");
    }

    /** Removes the place of dead letters, with what is in it, as a person might. */
    default void removeLetters() throws Exception {
        throw new TestAbortedException("this broker under test cannot remove the place of letters yet");
    }

    /** And makes it again, unless the listener or the broker does that. */
    default void restoreLetters() throws Exception {}

    /** From now on the broker neither takes nor refuses what is published as a dead letter; or it does again. */
    default void blockPublishers(boolean blocked) throws Exception {
        throw new TestAbortedException("this broker under test cannot block publishers yet");
    }

    /** Whether a header may stand more than once. */
    default boolean repeatsHeaders() {
        return true;
    }

    /**
     * What Idem logs at WARN from now on, in a list that grows; empty if that cannot be read, and then nobody looks whether
     * failures are told.
     */
    default Optional<List<String>> warnings() {
        return Optional.empty();
    }

    /** How many messages the broker still has for the consumer: those it would deliver if everybody left now. */
    long unsettled() throws Exception;

    DeadLetters deadLetters() throws Exception;

    /** The broker goes away without a word, and keeps what it has acknowledged. */
    void kill() throws Exception;

    /** And comes back at the same address. */
    void restart() throws Exception;
}
