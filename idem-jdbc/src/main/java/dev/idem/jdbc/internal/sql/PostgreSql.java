package dev.idem.jdbc.internal.sql;

import dev.idem.jdbc.schema.Database;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** PostgreSQL 14 and later: sweeps need scans by ranges of row addresses. */
final class PostgreSql {
    private PostgreSql() {}

    /**
     * The insert waits for a twin that is still running, but only as long as lock_timeout says; that setting is local to
     * the transaction and put back as soon as the row is in, because the handler must not inherit it. The arbiter is
     * named, so another unique index cannot hide behind it. A key that is there already gives no row, and is then read.
     * The row's xmin serves as claim id; it differs from the transaction's id where the driver or an outer transaction set
     * a savepoint, so the confirm compares the latter. Answered are few columns, and as they are: each further one and each
     * cast is paid for with every message.
     */
    private static final String CLAIM = """
            INSERT INTO ${marker} (consumer, message_key, readable, fingerprint)
            SELECT :consumer, :key, :readable, :fingerprint
            WHERE set_config('lock_timeout', CAST(:wait AS text),
                set_config('idem.lock_timeout', current_setting('lock_timeout'), true) IS NOT NULL) IS NOT NULL
            ON CONFLICT (consumer, message_key) DO NOTHING
            RETURNING xmin, pg_current_xact_id(), CAST(date_part('epoch', marked_at) * 1000000 AS bigint),
              set_config('lock_timeout', current_setting('idem.lock_timeout'), true)
            """;

    private static final String READ = """
            SELECT false, CAST(xmin AS text), NULL, readable, fingerprint,
                   CAST(date_part('epoch', marked_at) * 1000000 AS bigint), true
            FROM ${marker} WHERE consumer = :consumer AND message_key = :key
            """;

    /** What the errors of our own proofs quote: a deferred trigger may raise the same state behind the same statement. */
    private static final String CLAIM_LOST = "idem: the claim is lost";

    /** Fails with that. In two parts, because some drivers quote the statement in errors that are not ours. */
    static final String LOST = "'idem: ' || 'the claim is lost'";

    /** Fails, by turning that text into a number, when this is not the transaction of the claim, or the marker is gone. */
    private static final String CONFIRM = """
            SELECT CAST(CASE count(*) WHEN 1 THEN '1' ELSE %s END AS int) FROM ${marker} WHERE consumer = :consumer AND message_key = :key
            AND CAST(pg_current_xact_id_if_assigned() AS text) = :token
            """.formatted(LOST);

    /**
     * Limits the wait for locks, for one statement: set before it and put back behind it, all in one round trip. The last
     * one also tells the transaction and the time, once for all rows; as one text, because a driver that is made to
     * transfer everything in binary mixes up the columns of the first and the last.
     */
    static String limited(String sql) {
        return """
                SELECT set_config('lock_timeout', CAST(:wait AS text),
                  set_config('idem.lock_timeout', current_setting('lock_timeout'), true) IS NOT NULL);
                %s;
                SELECT concat_ws(' ', coalesce(CAST(pg_current_xact_id_if_assigned() AS text), '-'),
                  CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint),
                  set_config('lock_timeout', current_setting('idem.lock_timeout'), true))
                """.formatted(sql);
    }

    /**
     * Keys that are there already give no row, and are then read: most batches have none. The arrays say their types,
     * because some settings of the driver send them as bare text.
     */
    private static final String CLAIM_ALL = limited("""
            INSERT INTO ${marker} (consumer, message_key, readable, fingerprint)
            SELECT :consumer, k, r, f FROM unnest(CAST(:keys AS uuid[]), CAST(:readables AS text[]),
              CAST(:fingerprints AS int[])) AS t(k, r, f)
            ON CONFLICT (consumer, message_key) DO NOTHING
            RETURNING xmin, message_key
            """);

    private static final String READ_ALL = """
            SELECT xmin, readable, fingerprint, CAST(date_part('epoch', marked_at) * 1000000 AS bigint), message_key
            FROM ${marker} WHERE consumer = :consumer AND message_key = ANY(CAST(:keys AS uuid[]))
            """;

    private static final String REMOVE_ALL = """
            DELETE FROM ${marker} WHERE consumer = :consumer AND message_key = ANY(CAST(:keys AS uuid[]))
            AND CAST(xmin AS text) = ANY(CAST(:claimids AS text[]))
            """;

    private static final String REMOVE_CLAIMED = """
            DELETE FROM ${marker} WHERE consumer = :consumer AND message_key = ANY(CAST(:keys AS uuid[]))
            AND claim_id = :claimid
            """;

    private static BatchSql batch(String claim, String read, String remove) {
        return BatchSql.builder()
                .claim(claim)
                .claimMore(claim)
                .read(read)
                .remove(remove)
                .firstSavepoint("SAVEPOINT ${next}")
                // The driver sends all of it before it waits, also with a handler's statement behind it.
                .nextSavepoint("RELEASE SAVEPOINT ${last}; SAVEPOINT ${next}")
                // A backend shows the others 64 subtransactions; with more, every snapshot has to look them up on disk.
                .mostUnits(60)
                .carried(true)
                .firstWait(50)
                .laterWait(1)
                .build();
    }

    private static final String THIS_MARK =
            "consumer = :consumer AND stream_key = :stream AND partition_number = :partition";

    private static final String LOCK_MARK = limited("""
            SELECT position, claim_id, CAST(date_part('epoch', moved_at) * 1000000 AS bigint), stream,
              CAST(pg_current_xact_id() AS text)
            FROM ${watermark} WHERE %s FOR UPDATE
            """.formatted(THIS_MARK));

    private static final WatermarkSql WATERMARK = new WatermarkSql(
            limited("""
                    INSERT INTO ${watermark} (consumer, stream_key, partition_number, position, claim_id, stream)
                    VALUES (:consumer, :stream, :partition, -9223372036854775808, :claimid, :name)
                    ON CONFLICT (consumer, stream_key, partition_number) DO NOTHING
                    """),
            LOCK_MARK,
            LOCK_MARK,
            "UPDATE ${watermark} SET position = :position, claim_id = :claimid, moved_at = clock_timestamp() WHERE "
                    + THIS_MARK + " AND position = :before",
            "SELECT CAST(CASE count(*) WHEN 1 THEN '1' ELSE " + LOST + " END AS int) FROM ${watermark} WHERE "
                    + THIS_MARK + " AND claim_id = :claimid"
                    + " AND CAST(pg_current_xact_id_if_assigned() AS text) = :token; COMMIT",
            "SELECT 1 WHERE pg_xact_status(CAST(:token AS xid8)) = 'committed'");

    /** A duplicate needs nothing more of its transaction. */
    private static final String END = "; ROLLBACK";

    static final Dialect DIALECT = Dialect.builder()
            .database(Database.POSTGRESQL)
            .claim(CLAIM)
            .claimJoined(CLAIM)
            .read(READ)
            .readAndEnd(READ + END)
            .confirm(CONFIRM)
            // The driver sends both before it waits; after an error the server skips the rest.
            .confirmAndCommit(CONFIRM + "; COMMIT")
            .registerConsumer("INSERT INTO ${consumer} (number, name) VALUES (:number, :name) ON CONFLICT DO NOTHING")
            .storeResult("""
            INSERT INTO ${result} (consumer, message_key, codec, bytes) VALUES (:consumer, :key, :codec, :bytes)
            ON CONFLICT (consumer, message_key) DO UPDATE
            SET codec = excluded.codec, bytes = excluded.bytes, stored_at = excluded.stored_at
            """)
            .faults(FaultCodes.builder()
                    .busyStates("55P03")
                    .transientStates("40001", "40P01", "25P03", "25P04", "57P01", "57P02", "57P03", "53300", "55P03")
                    .brokenStates("25P02")
                    .brokenSign(CLAIM_LOST)
                    // terminated; crashed; idle or open for too long
                    .lostStates("57P01", "57P02", "25P03", "25P04")
                    .scarceStates("53100", "53200")
                    .refusedClasses("22", "23", "25", "40", "42", "54", "P0")
                    .build())
            .committing(
                    Set.of("COMMIT", "END", "ROLLBACK", "ABORT", "BEGIN", "START", "PREPARE TRANSACTION", "DISCARD"))
            .key(value -> (s, i) -> s.setObject(i, value))
            .keyOf((row, column) -> row.getObject(column, UUID.class))
            .waitUnits(wait -> Math.max(1, wait.toMillis())) // 0 would mean for ever
            .checks(checks())
            .batch(batch(CLAIM_ALL, READ_ALL, REMOVE_ALL))
            .watermark(WATERMARK)
            .build();

    /** Of markers that keep the id of their claim in a column: rows of partitions cannot tell their xmin when inserted. */
    static final Dialect PARTITIONED = DIALECT.toBuilder()
            .claim(ofPartitions(CLAIM))
            .claimJoined(ofPartitions(CLAIM))
            .read(ofPartitions(READ))
            .readAndEnd(ofPartitions(READ) + END)
            .batch(batch(ofPartitions(CLAIM_ALL), ofPartitions(READ_ALL), REMOVE_CLAIMED))
            .storesClaimId(true)
            .build();

    private static String ofPartitions(String sql) {
        return sql.replace("CAST(xmin AS text)", "CAST(claim_id AS text)")
                .replace("RETURNING xmin,", "RETURNING claim_id,")
                .replace("SELECT xmin,", "SELECT claim_id,")
                .replace(
                        "(consumer, message_key, readable, fingerprint)",
                        "(consumer, message_key, readable, fingerprint, claim_id)")
                .replace(
                        "SELECT :consumer, :key, :readable, :fingerprint",
                        "SELECT :consumer, :key, :readable, :fingerprint, :claimid")
                .replace("SELECT :consumer, k, r, f", "SELECT :consumer, k, r, f, :claimid");
    }

    private static List<Check> checks() {
        return List.of(
                Check.error(
                        "version",
                        "SELECT current_setting('server_version')"
                                + " WHERE CAST(current_setting('server_version_num') AS int) < 140000",
                        "PostgreSQL is too old",
                        "Use version 14 or later"),
                Check.error(
                        "read-only",
                        "SELECT 'transaction_read_only' WHERE current_setting('transaction_read_only') = 'on'"
                                + " OR pg_is_in_recovery()",
                        "The connection is read-only",
                        "Connect to the primary with targetServerType=primary; a replica cannot tell what is done"),
                Check.error(
                        "unlogged",
                        "SELECT relname FROM pg_class WHERE oid = '${marker}'::regclass AND relpersistence <> 'p'",
                        "The marker table is unlogged or temporary and is emptied by a crash",
                        "ALTER TABLE ${marker} SET LOGGED"),
                Check.error(
                        "primary key",
                        """
                        SELECT coalesce(max(CASE WHEN condeferrable THEN 'deferrable' ELSE 'other columns' END), 'none')
                        FROM pg_constraint WHERE conrelid = '${marker}'::regclass AND contype = 'p'
                        HAVING count(*) FILTER (WHERE NOT condeferrable AND array_length(conkey, 1) = 2) = 0
                        """,
                        "The marker table has no usable primary key",
                        "Create it from the shipped schema: idem schema print --database postgresql"),
                Check.error(
                        "privileges",
                        """
                        SELECT string_agg(p, ', ') FROM unnest(ARRAY['SELECT', 'INSERT', 'DELETE']) p
                        WHERE NOT has_table_privilege('${marker}', p) HAVING count(*) > 0
                        """,
                        "The role may not do what is needed on the marker table",
                        "Let their owner run: " + Check.GRANTS),
                Check.error(
                        "privileges",
                        """
                        SELECT string_agg(t || ' ' || p, ', ') FROM (VALUES ('${retention}', 'SELECT'),
                          ('${retention}', 'INSERT'), ('${retention}', 'UPDATE'), ('${meta}', 'UPDATE')) need (t, p)
                        WHERE NOT has_table_privilege(t, p) HAVING count(*) > 0
                        """,
                        "The role may not do what is needed for the window",
                        "Let their owner run: " + Check.GRANTS),
                Check.warning(
                        "trigger or policy",
                        """
                        SELECT relname FROM pg_class WHERE oid = '${marker}'::regclass AND (relrowsecurity OR relhasrules
                          OR EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = pg_class.oid AND NOT tgisinternal))
                        """,
                        "A trigger, rule or row policy on the marker table can hide or stop markers",
                        "Remove it: messages would be answered with an anomaly, never acknowledged"),
                Check.warning(
                        "second inbox",
                        """
                        SELECT string_agg(n.nspname, ', ') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                        WHERE c.relname = '${prefix}marker' AND c.oid <> '${marker}'::regclass HAVING count(*) > 0
                        """,
                        "Another schema of this database has a marker table of the same name",
                        "If both are meant for one service, set the schema explicitly: two tables recognise nothing"),
                Check.warning(
                        "durability",
                        """
                        SELECT string_agg(name || '=' || setting, ', ') FROM pg_settings
                        WHERE (name IN ('fsync', 'full_page_writes') AND setting = 'off')
                           OR (name = 'synchronous_commit' AND setting = 'off') HAVING count(*) > 0
                        """,
                        "The server may lose acknowledged commits in a crash",
                        "Switch it on; a lost commit loses marker and effect of a message that was acknowledged"));
    }
}
