package dev.idem.jdbc.internal.sql;

import dev.idem.jdbc.schema.Database;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * H2 2.x in its regular mode: the embedded default. It has no insert that passes over a conflict, but a failed insert
 * leaves its transaction usable, so the exact duplicate-key code means: read the row. Waiting for a twin in another
 * process or inbox is bounded by the database's own LOCK_TIMEOUT.
 */
final class H2Dialect {
    private H2Dialect() {}

    private static final String CLAIM = """
            SELECT TRUE, CAST(claim_id AS VARCHAR), TRANSACTION_ID(), NULL, NULL,
                   CAST(EXTRACT(EPOCH FROM marked_at) * 1000000 AS BIGINT), TRUE
            FROM FINAL TABLE (
              INSERT INTO ${marker} (consumer, message_key, readable, fingerprint, claim_id)
              VALUES (:consumer, :key, :readable, :fingerprint, :claimid))
            """;

    private static final String READ = """
            SELECT FALSE, CAST(claim_id AS VARCHAR), NULL, readable, fingerprint,
                   CAST(EXTRACT(EPOCH FROM marked_at) * 1000000 AS BIGINT), TRUE
            FROM ${marker} WHERE consumer = :consumer AND message_key = :key
            """;

    /** Divides by zero when this is not the transaction of the claim any more, or the marker is gone. */
    private static final String CONFIRM = """
            SELECT 1 / COUNT(*) FROM ${marker} WHERE consumer = :consumer AND message_key = :key
            AND claim_id = :claimid AND TRANSACTION_ID() = :token
            """;

    private static final String CLAIM_ALL = """
            SELECT TRUE, CAST(claim_id AS VARCHAR), TRANSACTION_ID(), NULL, NULL,
                   CAST(EXTRACT(EPOCH FROM marked_at) * 1000000 AS BIGINT), TRUE, message_key
            FROM FINAL TABLE (
              INSERT INTO ${marker} (consumer, message_key, readable, fingerprint, claim_id)
              VALUES {(:consumer, :key, :readable, :fingerprint, :claimid)})
            """;

    private static final BatchSql BATCH = BatchSql.builder()
            .claim(CLAIM_ALL)
            .claimMore(CLAIM_ALL)
            .read("""
            SELECT FALSE, CAST(claim_id AS VARCHAR), NULL, readable, fingerprint,
                   CAST(EXTRACT(EPOCH FROM marked_at) * 1000000 AS BIGINT), TRUE, message_key
            FROM ${marker} WHERE consumer = :consumer AND message_key IN ({:key})
            """)
            .remove(
                    "DELETE FROM ${marker} WHERE consumer = :consumer AND message_key IN ({:key}) AND claim_id = :claimid")
            .firstSavepoint("SAVEPOINT ${next}")
            // It releases a savepoint that is not there without a word, so the transaction's own name is asked.
            .nextSavepoint("SELECT 1 / CASE WHEN TRANSACTION_ID() = '${token}' THEN 1 ELSE 0 END; SAVEPOINT ${next}")
            .mostUnits(Integer.MAX_VALUE) // runs in this process, so there is no round trip to save
            .firstWait(50)
            .laterWait(5)
            .setLockTimeout("SET LOCK_TIMEOUT ") // neither commits nor rolls back
            .readLockTimeout("SELECT LOCK_TIMEOUT()")
            .build();

    private static final String THIS_MARK =
            "consumer = :consumer AND stream_key = :stream AND partition_number = :partition";

    /** The update locks the row, and tells which claim ran last, should its transaction be committed by somebody else. */
    private static final String LOCK_MARK = """
            SELECT position, CAST(claim_id AS VARCHAR), CAST(EXTRACT(EPOCH FROM moved_at) * 1000000 AS BIGINT), stream,
              TRANSACTION_ID()
            FROM FINAL TABLE (UPDATE ${watermark} SET running_id = :claimid WHERE %s)
            """.formatted(THIS_MARK);

    private static final WatermarkSql WATERMARK = new WatermarkSql(
            """
            INSERT INTO ${watermark} (consumer, stream_key, partition_number, position, claim_id, running_id, stream)
            SELECT :consumer, :stream, :partition, -9223372036854775808, :claimid, :claimid, :name
            WHERE NOT EXISTS (SELECT 1 FROM ${watermark} WHERE %s)
            """.formatted(THIS_MARK),
            LOCK_MARK,
            LOCK_MARK,
            "UPDATE ${watermark} SET position = :position, claim_id = :claimid, moved_at = CURRENT_TIMESTAMP WHERE "
                    + THIS_MARK + " AND position = :before",
            "SELECT 1 / COUNT(*) FROM ${watermark} WHERE " + THIS_MARK + " AND claim_id = :claimid"
                    + " AND TRANSACTION_ID() = :token; COMMIT",
            "SELECT 1 FROM ${watermark} WHERE " + THIS_MARK + " AND running_id = :claimid");

    static final Dialect DIALECT = Dialect.builder()
            .database(Database.H2)
            .claim(CLAIM)
            .claimJoined(CLAIM)
            .read(READ)
            .readAndEnd(READ)
            .confirm(CONFIRM)
            .confirmAndCommit(CONFIRM + "; COMMIT")
            .registerConsumer("""
            INSERT INTO ${consumer} (number, name) SELECT :number, :name
            WHERE NOT EXISTS (SELECT 1 FROM ${consumer} WHERE number = :number OR name = :name)
            """)
            .storeResult("""
            MERGE INTO ${result} (consumer, message_key, codec, bytes) KEY (consumer, message_key)
            VALUES (:consumer, :key, :codec, :bytes)
            """)
            .takenCodes(Set.of(23505))
            .faults(FaultCodes.builder()
                    .busyStates("HYT00")
                    .busyCodes(50200)
                    .transientStates("40001", "HYT00")
                    // deadlock, concurrent update, connection broken, database closed
                    .transientCodes(40001, 50200, 90131, 90067, 90121, 90098)
                    .brokenStates("22012") // no user's code runs at its commit
                    .lostCodes(90067, 90121, 90098) // connection broken, database closed
                    .scarceCodes(90100, 90108) // no disk, no memory
                    .refusedClasses("22", "23", "40", "42")
                    .build())
            .committing(Set.of(
                    "COMMIT",
                    "ROLLBACK",
                    "BEGIN",
                    "PREPARE COMMIT",
                    "CREATE",
                    "CREATE TEMPORARY", // commits as well, unlike on other databases
                    "ALTER",
                    "DROP",
                    "TRUNCATE",
                    "GRANT",
                    "REVOKE",
                    "ANALYZE",
                    "COMMENT",
                    "RUNSCRIPT",
                    "SHUTDOWN",
                    "SET AUTOCOMMIT"))
            .storesClaimId(true)
            .key(value -> (s, i) -> s.setObject(i, value))
            .keyOf((row, column) -> row.getObject(column, UUID.class))
            .waitUnits(wait -> wait.toMillis())
            .embedded(true)
            .checks(List.of(
                    Check.error(
                            "primary key",
                            """
                            SELECT 'no' WHERE 2 <> (SELECT COUNT(*) FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE
                            WHERE LOWER(TABLE_NAME) = '${prefix}marker'
                              AND LOWER(COLUMN_NAME) IN ('consumer', 'message_key')
                              AND TABLE_SCHEMA = '${schemaName}')
                            """,
                            "The marker table has no usable primary key",
                            "Create it from the shipped schema: idem schema print --database h2"),
                    Check.error(
                            "read-only",
                            "SELECT 'read only' WHERE READONLY()",
                            "The database is read-only",
                            "Open it for writing"),
                    Check.warning(
                            "durability",
                            """
                            SELECT 'WRITE_DELAY=' || SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS
                            WHERE SETTING_NAME = 'WRITE_DELAY' AND DATABASE_PATH() IS NOT NULL
                            """,
                            "An H2 file may lose the commits of the last moments when its process is killed",
                            "Keep what must not be lost on a database server")))
            .batch(BATCH)
            .watermark(WATERMARK)
            .build();
}
