package dev.idem.spi;

import dev.idem.Position;
import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Remembers what is done. Of any number of concurrent callers, in any number of processes, at most one is granted a key;
 * the others wait a bounded time and are then told that it is taken or busy. Thread-safe.
 *
 * <p>An implementation proves itself with the contract in {@code idem-test}.
 */
public interface MarkerStore extends AutoCloseable {
    Guarantee guarantee();

    /** One line for the log: which database, which tables. */
    String describe();

    /** Makes a consumer known, so that its first message does not have to. Idempotent. */
    void register(String consumer);

    /**
     * Says what the keys of a consumer are like, before its first claim. A store that has no place for such keys throws.
     *
     * @param timeOrdered whether the upper 48 bits of every key are the time its message was made
     * @throws dev.idem.StoreException when it cannot keep them, with what to do about it
     */
    default void admit(String consumer, boolean timeOrdered) {}

    /**
     * Says how long the consumer wants its history kept, before its first claim and whenever it wants another length. Of
     * different registrations the longest holds. A store that keeps everything for ever need not listen.
     */
    default void retain(String consumer, Retention retention) {}

    /**
     * Opens a transaction and claims the key in it, as its first statement.
     *
     * @throws TransientStoreException when the claim failed for a reason that passes
     * @throws ClaimAnomalyException when neither a grant nor a marker explains what happened
     * @throws dev.idem.StoreException when the store cannot work at all
     */
    Claim claim(ClaimRequest request);

    /** Whether an exception out of a handler means that the unit failed for a reason that passes. */
    boolean isTransient(Throwable failure);

    /**
     * Whether an exception, of a handler or of the store's own, means that the connection was lost while a transaction
     * ran. One loss says nothing; many in a row of the same message, each after a claim that was granted, say that
     * something the message does ends its connection.
     */
    default boolean isConnectionLost(Throwable failure) {
        return false;
    }

    /** Whether an exception out of a handler means that the store lacks disk or memory: not the message's fault. */
    default boolean isOutOfResources(Throwable failure) {
        return false;
    }

    /** The largest result, in bytes, that it can both keep and read back. */
    default int largestResult() {
        return Integer.MAX_VALUE;
    }

    @Override
    void close();

    /** A store that can claim many keys in one transaction. */
    interface Batching extends MarkerStore {
        /**
         * Opens a transaction and claims the keys in it with one statement, in an order that is the same for all callers. All
         * keys are of one consumer and differ. A twin that runs elsewhere is waited for only a moment, whatever the requests
         * say, because all the others wait with it.
         *
         * @throws TransientStoreException when the claim failed for a reason that passes
         * @throws ClaimAnomalyException when neither a grant nor a marker explains what happened
         * @throws dev.idem.StoreException when the store cannot work at all
         */
        Batch claimAll(List<ClaimRequest> requests);
    }

    /** A store that can also keep messages until they are handled. */
    interface Queueing extends Batching {
        QueueStore queue();
    }

    /** A store that also keeps replay sessions. */
    interface Replaying extends MarkerStore {
        ReplayStore replays();
    }

    /** A store that can keep one mark for each partition of a source instead of one marker for each message. */
    interface Positioned extends MarkerStore {
        /**
         * Opens a transaction and locks the marks of the partitions in it. Messages at or below the mark of their partition
         * are taken, all others granted; all of a partition are busy when its mark is locked by another delivery for too
         * long. The commit moves each mark to the highest position that was kept, so the caller must have given up
         * everything behind the first message that was not kept. All requests are of one consumer, in the order of their
         * positions.
         */
        Batch claimPositions(List<PositionRequest> requests);

        /** The mark of a partition as it is committed now; empty if there is none. */
        OptionalLong markOf(String consumer, Position partition);
    }

    /** A store that knows how far each stream is: all its units and batches have {@link Streams}. */
    interface Sequenced extends MarkerStore {
        SequenceStore sequences();
    }

    /** A store that keeps a secret for all its processes. */
    interface Secretive extends MarkerStore {
        /** At least 32 random bytes: the same for all processes, made with the tables, told to nobody. */
        byte[] secret();
    }

    /** A store that can say whether it answers. */
    interface Pingable extends MarkerStore {
        /**
         * Asks for the least that shows that it answers. May wait as long as it does not.
         *
         * @throws dev.idem.StoreException when it does not answer
         */
        void ping();
    }

    /** A store that can say whether it is as new as somebody outside remembers it. */
    interface Witnessed extends MarkerStore {
        StoreWitness witness();
    }

    /** A store that can claim inside a transaction it did not open. */
    interface Joinable extends MarkerStore {
        /**
         * Claims in the caller's transaction. A claim that is not granted, or fails, leaves nothing in that transaction. The
         * unit's {@code commit} stores the result and proves that the marker is in that transaction, and may be called again
         * for the proof alone; the caller commits. Its {@code rollback}, and its {@code close} before the first commit, undo
         * what came since the claim; where that is not certain, nothing of the caller's transaction can be committed any more.
         */
        Claim claimWithin(Connection outer, ClaimRequest request);

        /** From now on the caller's transaction can only be rolled back: every attempt to commit it fails. */
        void rollbackOnly(Connection outer);

        /** What the calling thread has open that a unit would run beside; see {@link OuterTransactions#openHere}. */
        Optional<String> openHere();

        /** The same beside the transaction of this connection, which a message is about to join. */
        default Optional<String> openBeside(Connection outer) {
            return Optional.empty();
        }

        /** Whether both lead to the same transaction, whatever wraps them. A store that cannot tell says yes. */
        default boolean isSame(Connection one, Connection other) {
            return true;
        }
    }
}
