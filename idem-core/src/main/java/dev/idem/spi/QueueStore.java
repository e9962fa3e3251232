package dev.idem.spi;

import dev.idem.Message;
import dev.idem.queue.QueueState;
import dev.idem.queue.QueueStats;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Keeps messages until workers have handled them. A message is stored in the same transaction as its marker,
 * and leaves the queue in the same transaction as its handler's effect. Thread-safe.
 */
public interface QueueStore {
    /** Writes messages in the transaction that has claimed their markers, in this order. */
    void enqueue(Connection connection, Intake intake, List<Message> messages) throws Exception;

    /** Writes messages that nobody shall take before a person has decided, in the transaction that has claimed their markers. */
    void park(Connection connection, Intake intake, List<Message> messages, String reason, QueueChange.FailedRun run)
            throws Exception;

    /**
     * Hands over a message to be written with what the unit defers, so that it is stored if and only if the unit commits. It
     * has no marker: what a handler publishes is as unique as the handler's own.
     */
    void publish(UnitOfWork unit, Intake intake, Message message);

    /**
     * Called before workers of a consumer start.
     *
     * @throws dev.idem.StoreException if so many would surely stand still, with what they need
     */
    default void prepare(String consumer, int workers) {}

    /**
     * Takes what is due in a transaction that stays open until the batch ends, so that a crash frees the messages at once.
     * Empty when nothing is due. Of an ordered consumer only the first messages of each ordering key are taken.
     */
    Optional<QueueBatch> take(Taking taking);

    /** Takes leases on what is due, and commits: each counts as a start. Of an ordered consumer only heads are taken. */
    List<QueuedMessage> lease(Taking taking, Duration lease);

    /** Takes a lease on one message that was just seen, if nobody has moved it since. */
    Optional<QueuedMessage> lease(Taking taking, QueuedMessage message, Duration lease);

    /** Opens a transaction for messages that were taken or leased before; those that are lost are refused as busy. */
    QueueBatch open(Taking taking, List<QueuedMessage> messages, boolean leased);

    /** Lengthens leases; answers how many are still held. Safe to repeat. */
    int renew(Taking taking, List<QueuedMessage> leased, Duration lease);

    /** Makes changes in a transaction of their own; answers how many were made, the others being somebody else's now. */
    int change(Taking taking, List<QueueChange> changes);

    /** How long until something becomes due that is not due now; empty if nothing will, by itself. */
    Optional<Duration> nextDue(String consumer);

    /** Notes, outside the batch's transaction, that handlers of these messages are about to start; empty: none are. */
    void running(Taking taking, List<QueuedMessage> messages);

    /** The worker will not come back. */
    void gone(Taking taking);

    /**
     * Releases what has become the first of its ordering key; after the commit that stored or completed messages. Answers
     * how many that were.
     */
    int release(String consumer, Collection<String> orderingKeys);

    /**
     * Repairs what crashes have left: counts the starts of workers that are gone, and releases messages that are still held.
     * Answers how many rows it touched.
     */
    int recover(String consumer);

    /**
     * Of messages that came again and have a marker, answers those that are in the queue, and in which state.
     *
     * @param counted whether they are counted as duplicates on their markers, too
     */
    Map<MarkerKey, QueueState> seenAgain(String consumer, Collection<MarkerKey> keys, boolean counted);

    QueueStats stats(String consumer);

    /** Whether at least so many messages wait, cheaply. */
    boolean isFull(String consumer, long cap);

    /**
     * A queue whose instances can wake each other's workers. It only saves waiting for the next look: whatever is lost here
     * is found by polling, so nothing of it may delay, or fail, what a caller does.
     */
    interface Waking extends QueueStore {
        /** After the commit that stored messages: tells other instances, soon. Neither waits nor throws. */
        void wakeOthers(String consumer);

        /** From now on rings when another instance has stored something; maybe also when nobody has. */
        void onWake(String consumer, Runnable signal);
    }

    /**
     * What the receiving side is told of a consumer.
     *
     * @param ordered whether messages wait behind earlier ones of their ordering key
     * @param places where messages stand in their streams, for consumers that have a sequence
     */
    record Intake(String consumer, KeyOf keys, boolean ordered, PlaceOf places) {}

    /** Finds the stream and the version of a message; empty where the consumer has no sequence. */
    @FunctionalInterface
    interface PlaceOf {
        Optional<StreamVersion> of(Message message);
    }

    /** Finds the key of a message. */
    @FunctionalInterface
    interface KeyOf {
        MarkerKey of(Message message);
    }

    /**
     * Who takes, and how.
     *
     * @param worker a number that no other worker has
     * @param name of the worker, for people
     * @param limit how many messages at most
     * @param keepFor how long completed messages are kept; zero: not at all
     * @param parksKey whether the held rest of an ordering key is parked together with a message of it
     */
    record Taking(
            String consumer, long worker, String name, int limit, boolean ordered, Duration keepFor, boolean parksKey) {
        public Taking limitedTo(int most) {
            return new Taking(consumer, worker, name, most, ordered, keepFor, parksKey);
        }

        public Taking by(long otherWorker) {
            return new Taking(consumer, otherWorker, name, limit, ordered, keepFor, parksKey);
        }
    }
}
