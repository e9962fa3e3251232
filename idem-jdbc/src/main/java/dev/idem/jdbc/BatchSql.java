package dev.idem.jdbc;

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
 * @param patience what to write before the wait where the claim cannot say it itself, else empty
 * @param impatience asks for the present wait, else empty
 */
record BatchSql(
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
        String patience,
        String impatience) {
    static final int INSERTED_COLUMNS = 2;
    static final int SUMMARY_COLUMNS = 1;
    static final int KNOWN_COLUMNS = 5;
}
