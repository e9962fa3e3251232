package dev.idem.spi;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Many keys claimed in one transaction. Handlers write in units that are isolated from each other:
 *
 * <pre>
 *   claimed ──► for each: begin ──► revoke ──► commit      keeps what it wrote, for now
 *      │                    └─────► rollback               undoes what it wrote, and nothing of the others
 *      └──► flush ──► commit                               all that was kept is durable, together with its markers
 * </pre>
 *
 * A key whose work was undone must be given up before the commit, else it is marked as done. Used by one thread, but for
 * {@link UnitOfWork#withdraw} and {@link UnitOfWork#abandon} of a unit that is running.
 */
public interface Batch extends AutoCloseable {
    /** The keys that were not granted, and why: anything but granted. All others are granted. */
    Map<MarkerKey, Claim> refused();

    /** Which claim a granted key has; the marker that is committed carries the same. */
    String claimId(MarkerKey key);

    /** The horizon, as {@link UnitOfWork#horizon} has it for a single key; read once for the whole batch. */
    default Optional<Instant> horizon(MarkerKey key, Instant made) {
        return Optional.empty();
    }

    /**
     * The streams of this transaction, for consumers that have a sequence.
     *
     * @throws UnsupportedOperationException if the store keeps no sequences
     */
    default Streams streams() {
        throw new UnsupportedOperationException("This store keeps no sequences");
    }

    /**
     * Starts the work for granted keys, on the calling thread. The unit before it must have ended.
     *
     * @param lane deferred statements of units with the same lane keep their order; null when none others matter
     */
    UnitOfWork begin(List<MarkerKey> keys, @Nullable String lane);

    /** Takes a granted key out of the batch: it will not be marked as done. */
    void giveUp(MarkerKey key);

    /**
     * Sends the statements that handlers deferred. Empty when all went well; else which units' statements failed, and
     * why, and everything is as it was before the flush.
     */
    Map<UnitOfWork, Throwable> flush();

    /**
     * Takes a unit that was kept out again, with its deferred statements. False when it also wrote through its connection,
     * which cannot be undone any more without the others: then the batch must be closed.
     */
    boolean forget(UnitOfWork unit);

    /** True when the transaction has isolated as many units from each other as it can at little cost. */
    default boolean full() {
        return false;
    }

    /** False when the transaction is lost, and only a new one can go on. */
    boolean usable();

    /**
     * Proves that this transaction still holds its markers, removes those given up, and commits.
     *
     * @throws HiddenCommitException when a handler committed behind our back
     * @throws CommitUnknownException when the answer was lost; only claiming again can tell
     * @throws TransientStoreException when it surely did not commit, and another run may
     * @throws dev.idem.BrokenTransactionException when the markers are not there any more
     * @throws dev.idem.CommitRefusedException when the database refused for a handler's sake
     */
    void commit();

    /**
     * Ends the transaction because its time is up, on another thread than the one that uses it: what is running in it fails.
     */
    default void abandon() {}

    /**
     * Gives back what is held, and rolls back what did not commit. Closing it again does nothing: what was given back may
     * be in the hands of another batch by then.
     */
    @Override
    void close();
}
