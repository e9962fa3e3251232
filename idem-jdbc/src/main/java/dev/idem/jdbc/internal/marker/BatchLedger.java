package dev.idem.jdbc.internal.marker;

import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How a batch records what is done: a marker for each message, or a watermark for each partition. */
public interface BatchLedger {
    /** Of whom all its keys are. */
    int consumer();

    /** The keys that were granted, in the order of the requests. */
    Collection<MarkerKey> granted();

    String claimId(MarkerKey key);

    /** See {@link dev.idem.spi.Batch#horizon}. */
    default Optional<Instant> horizon(Connection connection, MarkerKey key, Instant made) throws SQLException {
        return Optional.empty(); // watermarks are not removed
    }

    /** What the database calls the transaction of the claims, if it has a name for it. */
    @Nullable
    String token();

    /** Writes what must be written before the commit, in the batch's transaction. */
    void record(Connection connection, Set<MarkerKey> givenUp, Map<MarkerKey, StoredResult> results)
            throws SQLException;

    /** Proves that this is still the transaction of the claims, and commits, in one round trip. */
    void confirmAndCommit(Connection connection, Set<MarkerKey> givenUp) throws SQLException;

    /** Whether the transaction of the claims was committed, asked in another transaction. */
    boolean isCommitted(Connection connection) throws SQLException;

    /** The same when the connection of that transaction is lost; false where nobody can be asked, or the next claim tells. */
    default boolean isCommittedBeside() {
        return false;
    }

    /**
     * Makes good, in a transaction of its own, after that happened: none but these must be taken for done.
     *
     * @param culprits whose work is there, or half of it: they must not run again, and a person must look
     */
    void makeGood(Connection connection, Set<MarkerKey> done, Set<MarkerKey> culprits) throws SQLException;
}
