package dev.idem.spi;

import java.sql.Connection;
import java.time.Instant;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A claimed key and the transaction it was claimed in. Ends in exactly one of two ways:
 *
 * <pre>
 *   granted ──► revoke ──► commit      marker, result and effect are durable together
 *      └──────► rollback               nothing is left
 * </pre>
 *
 * {@link #close} gives back what is held, and rolls back what did not end; once more it must do nothing, because what was
 * given back may be in the hands of another unit by then. {@link #abandon} may come at any moment from another thread, even
 * after {@code close}, when it must do nothing either. All but {@code abandon} are called from one thread.
 */
public interface UnitOfWork extends AutoCloseable {
    /** Which claim this is; the marker it commits carries the same. */
    String claimId();

    /** What the handler writes through; guarded. */
    Connection connection();

    /** The same transaction as a data source whose connections may be closed. */
    DataSource dataSource();

    /**
     * The horizon, if the message was made at that time or before it: then its marker may have been removed, and that the
     * claim was granted says nothing. Empty if all markers of messages made later than that are still kept. Answered
     * inside the claim's transaction, so that a removal which this claim has waited for is part of the answer.
     */
    default Optional<Instant> horizon(Instant made) {
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
     * Keeps a statement to be sent after the handler, before the commit, together with those of other messages.
     *
     * @throws UnsupportedOperationException if the store has no database transaction
     */
    default void defer(String sql, @Nullable Object... args) {
        throw new UnsupportedOperationException("This store has no database transaction to defer statements to");
    }

    /**
     * The same for statements that keep their order among all of their line, whichever messages of a batch they are of. They
     * are sent behind all others, so that what they lock is locked for the shortest time.
     */
    default void deferInOrder(String line, String sql, @Nullable Object... args) {
        defer(sql, args);
    }

    /**
     * Sends what was deferred. What it throws counts as thrown by the handler.
     *
     * @throws Exception the database's own
     */
    default void flush() throws Exception {}

    /** True when the handler sent anything through the connection, or deferred it. */
    boolean used();

    /**
     * Whether an exception out of the handler came out of this unit's own connection. Only of those it matters what {@link
     * MarkerStore#isTransient} and its like say: another database's deadlock or outage is the handler's own failure, and
     * counts as one. A store that cannot tell says yes.
     */
    default boolean isOwn(Throwable failure) {
        return true;
    }

    /**
     * Takes the connection away from the handler; any later use by a stray thread throws.
     *
     * @throws dev.idem.BrokenTransactionException when the handler returned, but left a transaction that must not commit: a
     *     thread of it still runs, or a library has rolled back
     */
    void revoke();

    /**
     * Proves that this transaction still holds its marker, then commits.
     *
     * @throws CommitUnknownException when the answer was lost; only claiming again can tell
     * @throws TransientStoreException when it surely did not commit, and another run may
     * @throws dev.idem.BrokenTransactionException when the marker is not there any more
     * @throws dev.idem.CommitRefusedException when the database refused for the handler's sake
     */
    void commit(@Nullable StoredResult result);

    /**
     * Undoes everything, and proves that the marker is gone.
     *
     * @throws dev.idem.BrokenTransactionException when the handler had committed behind our back
     */
    void rollback();

    /**
     * Takes the connection away at once, from another thread and without waiting. Answers whether the handler is inside
     * one of its calls at this moment: then it must not be interrupted, because some databases run in the handler's thread
     * and lose their files to an interrupt.
     */
    default boolean withdraw() {
        return false;
    }

    /** Ends it from another thread: the transaction is torn down and cannot commit any more. */
    void abandon();

    @Override
    void close();
}
