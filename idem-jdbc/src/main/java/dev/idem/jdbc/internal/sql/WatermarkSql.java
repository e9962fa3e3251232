package dev.idem.jdbc.internal.sql;

/**
 * The statements on watermarks. Each is about one partition of one stream: {@code :consumer}, {@code :stream}, {@code
 * :partition}.
 *
 * @param insert makes the row, if there is none, below every position
 * @param lock locks the row and answers position, claim id, microseconds, the stream's name, and what the database calls
 *     the transaction
 * @param lockFirst the same as the first statement of a transaction
 * @param move moves the watermark from {@code :before} to {@code :position}, for {@code :claimid}
 * @param confirmAndCommit the same and COMMIT in one round trip, where the first failing stops the second
 * @param committed answers a row if the transaction of the claim was committed
 */
public record WatermarkSql(
        String insert, String lock, String lockFirst, String move, String confirmAndCommit, String committed) {}
