package dev.idem.jdbc.internal.sql;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What differs between databases when many keys share a transaction. Statements answer rows of {@link ClaimRow} with the
 * key as their last column; or a claim answers only what it inserted, as claim id and key, and then what all those rows
 * have in common: the transaction, the time, and a column that is not read; and a read answers what {@link ClaimRow#known}
 * reads, and the key.
 *
 * @param claim inserts the markers as the first statement of a transaction; answers those it inserted, and may answer
 *     those that were there
 * @param claimMore the same, later in the transaction
 * @param read answers the markers that are there
 * @param remove deletes the markers of given claims
 * @param firstSavepoint sets the savepoint of a transaction's first unit; {@code ${next}} is its name
 * @param nextSavepoint sets it for each further unit, and fails if {@code ${last}}, the one before, is gone, or if the
 *     transaction is not {@code ${token}} any more
 * @param mostUnits how many savepoints a transaction should set at most
 * @param carried whether these can be written in front of a handler's statement, to be sent in one round trip
 * @param firstWait how long the first try waits for twins, in the unit of the claim's {@code :wait}
 * @param laterWait how long each further try waits
 * @param setLockTimeout what to write before the wait where the claim cannot say it itself, else empty
 * @param readLockTimeout asks for the present wait, else empty
 */
public record BatchSql(
        String claim,
        String claimMore,
        String read,
        String remove,
        String firstSavepoint,
        String nextSavepoint,
        int mostUnits,
        boolean carried,
        long firstWait,
        long laterWait,
        String setLockTimeout,
        String readLockTimeout) {
    public static final int INSERTED_COLUMNS = 2;
    public static final int SUMMARY_COLUMNS = 1;
    public static final int KNOWN_COLUMNS = 5;

    static Builder builder() {
        return new Builder();
    }

    /** Gives each value by its name. Not thread-safe. */
    static final class Builder {
        private @Nullable String claim;
        private @Nullable String claimMore;
        private @Nullable String read;
        private @Nullable String remove;
        private @Nullable String firstSavepoint;
        private @Nullable String nextSavepoint;
        private int mostUnits;
        private boolean carried;
        private long firstWait;
        private long laterWait;
        private String setLockTimeout = "";
        private String readLockTimeout = "";

        Builder claim(String value) {
            claim = value;
            return this;
        }

        Builder claimMore(String value) {
            claimMore = value;
            return this;
        }

        Builder read(String value) {
            read = value;
            return this;
        }

        Builder remove(String value) {
            remove = value;
            return this;
        }

        Builder firstSavepoint(String value) {
            firstSavepoint = value;
            return this;
        }

        Builder nextSavepoint(String value) {
            nextSavepoint = value;
            return this;
        }

        Builder mostUnits(int value) {
            mostUnits = value;
            return this;
        }

        Builder carried(boolean value) {
            carried = value;
            return this;
        }

        Builder firstWait(long value) {
            firstWait = value;
            return this;
        }

        Builder laterWait(long value) {
            laterWait = value;
            return this;
        }

        Builder setLockTimeout(String value) {
            setLockTimeout = value;
            return this;
        }

        Builder readLockTimeout(String value) {
            readLockTimeout = value;
            return this;
        }

        BatchSql build() {
            return new BatchSql(
                    Objects.requireNonNull(claim, "claim"),
                    Objects.requireNonNull(claimMore, "claimMore"),
                    Objects.requireNonNull(read, "read"),
                    Objects.requireNonNull(remove, "remove"),
                    Objects.requireNonNull(firstSavepoint, "firstSavepoint"),
                    Objects.requireNonNull(nextSavepoint, "nextSavepoint"),
                    mostUnits,
                    carried,
                    firstWait,
                    laterWait,
                    setLockTimeout,
                    readLockTimeout);
        }
    }
}
