package dev.idem.jdbc.internal.sql;

import dev.idem.jdbc.schema.Database;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** MariaDB 10.11 and later. MySQL has neither RETURNING nor anonymous blocks, and is not claimed. */
final class MariaDb {
    private MariaDb() {}

    /**
     * Inserts, or locks the row that is there, and returns it: a current read, right at every isolation level. IGNORE is
     * never used, because it truncates. Whether the row is ours is told by its claim id, not by an update count, which
     * depends on a connection option. The wait is limited for this one statement.
     */
    private static final String INSERT = """
            SET STATEMENT innodb_lock_wait_timeout = :wait FOR
            INSERT INTO ${marker} (consumer, message_key, readable, fingerprint, claim_id)
            VALUES (:consumer, :key, :readable, :fingerprint, :claimid)
            ON DUPLICATE KEY UPDATE consumer = consumer
            RETURNING claim_id = :claimid, claim_id, NULL, readable, fingerprint,
              CAST(UNIX_TIMESTAMP(marked_at) * 1000000 AS SIGNED), consumer = :consumer AND message_key = :key
            """;

    /** Without a lock, because it looks for what was left behind while another delivery may hold the key. */
    private static final String READ = """
            SELECT 0, claim_id, NULL, readable, fingerprint, CAST(UNIX_TIMESTAMP(marked_at) * 1000000 AS SIGNED), 1
            FROM ${marker} WHERE consumer = :consumer AND message_key = :key
            """;

    private static final String OWN_MARKER =
            "SELECT 1 FROM ${marker} WHERE consumer = :consumer AND message_key = :key AND claim_id = :claimid";

    /**
     * Fails with 1305 when the transaction is not that of the claim, or the marker not ours: a driver that replays a lost
     * transaction sets the savepoint again, but cannot know that another delivery has taken the key meanwhile.
     */
    private static final String CONFIRM_AND_COMMIT = """
            BEGIN NOT ATOMIC
              RELEASE SAVEPOINT idem_guard;
              IF NOT EXISTS (%s) THEN
                SIGNAL SQLSTATE '42000' SET MYSQL_ERRNO = 1305, MESSAGE_TEXT = 'the marker is gone';
              END IF;
              COMMIT;
            END
            """.formatted(OWN_MARKER);

    private static final String INSERT_ALL = """
            SET STATEMENT innodb_lock_wait_timeout = :wait FOR
            INSERT INTO ${marker} (consumer, message_key, readable, fingerprint, claim_id)
            VALUES {(:consumer, :key, :readable, :fingerprint, :claimid)}
            ON DUPLICATE KEY UPDATE consumer = ${marker}.consumer
            RETURNING claim_id = :claimid, claim_id, NULL, readable, fingerprint,
              CAST(UNIX_TIMESTAMP(marked_at) * 1000000 AS SIGNED), consumer = :consumer, message_key
            """;

    /** No wait for twins: the shortest there is would be a second. */
    private static final BatchSql BATCH = BatchSql.builder()
            .claim("BEGIN NOT ATOMIC SAVEPOINT idem_guard; " + INSERT_ALL + "; END")
            .claimMore(INSERT_ALL)
            .read("""
            SELECT 0, claim_id, NULL, readable, fingerprint, CAST(UNIX_TIMESTAMP(marked_at) * 1000000 AS SIGNED), 1,
                   message_key
            FROM ${marker} WHERE consumer = :consumer AND message_key IN ({:key})
            """)
            .remove(
                    "DELETE FROM ${marker} WHERE consumer = :consumer AND message_key IN ({:key}) AND claim_id = :claimid")
            .firstSavepoint("SAVEPOINT ${next}")
            .nextSavepoint("BEGIN NOT ATOMIC RELEASE SAVEPOINT ${last}; SAVEPOINT ${next}; END")
            .mostUnits(Integer.MAX_VALUE)
            .firstWait(0)
            .laterWait(0)
            .build();

    private static final String THIS_MARK =
            "consumer = :consumer AND stream_key = :stream AND partition_number = :partition";

    private static final String LOCK_MARK = """
            SET STATEMENT innodb_lock_wait_timeout = :wait FOR
            SELECT position, claim_id, CAST(UNIX_TIMESTAMP(moved_at) * 1000000 AS SIGNED), stream, NULL
            FROM ${watermark} WHERE %s FOR UPDATE
            """.formatted(THIS_MARK);

    private static final WatermarkSql WATERMARK = new WatermarkSql(
            """
            SET STATEMENT innodb_lock_wait_timeout = :wait FOR
            INSERT INTO ${watermark} (consumer, stream_key, partition_number, position, claim_id, running_id, stream)
            VALUES (:consumer, :stream, :partition, -9223372036854775808, :claimid, :claimid, :name)
            ON DUPLICATE KEY UPDATE consumer = consumer
            """,
            LOCK_MARK,
            // The row tells which claim ran last, should its transaction be committed by somebody else.
            "BEGIN NOT ATOMIC SAVEPOINT idem_guard; " + LOCK_MARK
                    + "; UPDATE ${watermark} SET running_id = :claimid WHERE " + THIS_MARK + "; END",
            "UPDATE ${watermark} SET position = :position, claim_id = :claimid, moved_at = CURRENT_TIMESTAMP(6) WHERE "
                    + THIS_MARK + " AND position = :before",
            """
            BEGIN NOT ATOMIC
              RELEASE SAVEPOINT idem_guard;
              IF NOT EXISTS (SELECT 1 FROM ${watermark} WHERE %s AND claim_id = :claimid) THEN
                SIGNAL SQLSTATE '42000' SET MYSQL_ERRNO = 1305, MESSAGE_TEXT = 'the mark is gone';
              END IF;
              COMMIT;
            END
            """.formatted(THIS_MARK),
            "SELECT 1 FROM ${watermark} WHERE " + THIS_MARK + " AND running_id = :claimid");

    static final Dialect DIALECT = Dialect.builder()
            .database(Database.MARIADB)
            // The guard savepoint is gone when anything has committed, rolled back or replaced this transaction.
            .claim("BEGIN NOT ATOMIC SAVEPOINT idem_guard; " + INSERT + "; END")
            .claimJoined(INSERT)
            .read(READ)
            .readAndEnd(READ)
            .confirm(OWN_MARKER)
            .confirmAndCommit(CONFIRM_AND_COMMIT)
            .registerConsumer(
                    "INSERT INTO ${consumer} (number, name) VALUES (:number, :name) ON DUPLICATE KEY UPDATE name = name")
            .storeResult(
                    "REPLACE INTO ${result} (consumer, message_key, codec, bytes) VALUES (:consumer, :key, :codec, :bytes)")
            .faults(FaultCodes.builder()
                    .busyCodes(1205)
                    .transientStates("40001")
                    // lock wait, deadlock, changed since read, too many connections, killed, server gone or going
                    .transientCodes(1205, 1213, 1020, 1040, 1927, 1053, 2006, 2013, 1047, 4031)
                    .brokenCodes(1305) // no user's code runs at its commit
                    // killed, server gone or going
                    .lostCodes(1927, 1053, 2006, 2013, 4031)
                    // disk full, error writing, out of memory, out of resources, table (that is, its disk) full
                    .scarceCodes(1021, 1026, 1037, 1041, 1114)
                    .refusedClasses("22", "23", "40", "42")
                    .endingCodes(1213, 1020)
                    .build()) // deadlock, changed since read
            .committing(Set.of(
                    "COMMIT",
                    "ROLLBACK",
                    "BEGIN",
                    "START",
                    "XA",
                    "CREATE",
                    "ALTER",
                    "DROP",
                    "TRUNCATE",
                    "RENAME",
                    "LOCK",
                    "UNLOCK",
                    "GRANT",
                    "REVOKE",
                    "ANALYZE",
                    "OPTIMIZE",
                    "REPAIR",
                    "FLUSH",
                    "SET AUTOCOMMIT"))
            .storesClaimId(true)
            .key(value -> (s, i) -> s.setBytes(i, bytes(value)))
            .keyOf((row, column) -> uuid(row.getBytes(column)))
            .waitUnits(wait -> (wait.toMillis() + 999) / 1000)
            .catalogIsSchema(true)
            .checks(checks())
            .batch(BATCH)
            .watermark(WATERMARK)
            .build();

    private static UUID uuid(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new UUID(buffer.getLong(), buffer.getLong());
    }

    private static byte[] bytes(UUID value) {
        return ByteBuffer.allocate(16)
                .putLong(value.getMostSignificantBits())
                .putLong(value.getLeastSignificantBits())
                .array();
    }

    private static List<Check> checks() {
        return List.of(
                Check.error(
                        "version",
                        "SELECT VERSION() FROM DUAL WHERE VERSION() NOT LIKE '%MariaDB%'"
                                + " OR VERSION() REGEXP '^(5|10\\\\.([0-9]|10))\\\\.'",
                        "This server is not MariaDB 10.11 or later",
                        "Use MariaDB 10.11 or later; MySQL is not supported yet"),
                Check.error(
                        "read-only",
                        "SELECT 'innodb_read_only' FROM DUAL WHERE @@innodb_read_only = 1",
                        "The server is read-only",
                        "Connect to the primary; a replica cannot tell what is done"),
                Check.error(
                        "engine", """
                        SELECT CONCAT(table_name, ' ', engine) FROM information_schema.tables
                        WHERE table_schema = '${schemaName}' AND table_name LIKE '${prefix}%' AND engine <> 'InnoDB' LIMIT 1
                        """, "A table's engine has no transactions", "ALTER TABLE ${marker} ENGINE = InnoDB"),
                Check.error(
                        "collation",
                        """
                        SELECT CONCAT(table_name, '.', column_name, ' ', column_type) FROM information_schema.columns
                        WHERE table_schema = '${schemaName}'
                          AND ((table_name = '${prefix}marker' AND column_name = 'message_key'
                                AND column_type <> 'binary(16)')
                            OR (table_name = '${prefix}consumer' AND column_name = 'name'
                                AND collation_name NOT LIKE '%bin')) LIMIT 1
                        """,
                        "A key column does not compare byte for byte",
                        "Create the tables from the shipped schema: idem schema print --database mariadb"),
                Check.error(
                        "primary key",
                        """
                        SELECT 'no' FROM DUAL WHERE 2 <> (SELECT COUNT(*) FROM information_schema.key_column_usage
                        WHERE table_schema = '${schemaName}' AND table_name = '${prefix}marker'
                          AND constraint_name = 'PRIMARY' AND column_name IN ('consumer', 'message_key'))
                        """,
                        "The marker table has no usable primary key",
                        "Create it from the shipped schema: idem schema print --database mariadb"),
                Check.warning(
                        "trigger",
                        "SELECT trigger_name FROM information_schema.triggers WHERE event_object_schema = '${schemaName}'"
                                + " AND event_object_table = '${prefix}marker' LIMIT 1",
                        "A trigger on the marker table can stop or change markers",
                        "Remove it"),
                Check.warning(
                        "isolation",
                        // The variable has another name before 11.1, and only this table knows both.
                        """
                        SELECT variable_value FROM information_schema.session_variables
                        WHERE variable_name IN ('TRANSACTION_ISOLATION', 'TX_ISOLATION')
                          AND variable_value <> 'READ-COMMITTED' LIMIT 1
                        """,
                        "Gap locks of this isolation level make handlers deadlock more often",
                        "Set READ COMMITTED on the pool, or transaction-isolation=READ-COMMITTED on the server"),
                Check.warning(
                        "durability",
                        "SELECT @@innodb_flush_log_at_trx_commit FROM DUAL WHERE @@innodb_flush_log_at_trx_commit <> 1",
                        "The server may lose acknowledged commits in a crash: innodb_flush_log_at_trx_commit",
                        "Set it to 1; a lost commit loses marker and effect of a message that was acknowledged"),
                Check.warning(
                        "galera",
                        "SELECT 'wsrep_on' FROM DUAL WHERE @@wsrep_on = 1",
                        "This is a Galera cluster",
                        "Send all writes to one node: several writers are not supported"));
    }
}
