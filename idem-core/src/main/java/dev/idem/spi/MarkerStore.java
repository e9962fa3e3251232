package dev.idem.spi;

import java.sql.Connection;

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
     * Says how long the consumer wants its history kept, before its first claim and whenever it wants another length. Of
     * different wishes the longest holds. A store that keeps everything for ever need not listen.
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

    @Override
    void close();

    /** A store that can claim inside a transaction it did not open. */
    interface Joinable extends MarkerStore {
        /**
         * Claims in the caller's transaction. A refused claim leaves that transaction usable. The unit's {@code commit}
         * confirms and stores the result, but the caller commits; its {@code rollback} undoes only what came after the
         * claim.
         */
        Claim claimWithin(Connection outer, ClaimRequest request);
    }
}
