package dev.idem.jdbc;

import dev.idem.QueueState;

/**
 * What differs between databases in keeping stored messages. Times are microseconds since 1970 everywhere. What stands in
 * braces is repeated for each row, see {@link RowsSql}.
 *
 * @param now the database's clock
 * @param byId the table where rows are found by their ids: a scan of a small table would wait for rows it does not want
 * @param insert writes messages in the order given
 * @param turns waits until the stripes given are this transaction's, in their order: see {@link LineTurns}
 * @param blocked answers those of the ordering keys given that have a message in the queue; takes the turns before, where
 *     one round trip is enough for both
 * @param isolation said before a transaction that takes messages, where the default would lock what others need
 * @param begin the first statement of a transaction that handles stored messages, where one is needed
 * @param take locks what is due, and passes over what others have locked; answers rows of {@link QueueRow}
 *     ({@code :peek} is how far it may look for what is not locked, {@code :inline} how large a message may be that is
 *     read at once)
 * @param peeked counts what {@code take} may look at, where it looks only so far
 * @param takeHeads the same, but only the first of each ordering key
 * @param followers answers the first messages of each of the ordering keys given, without a lock
 * @param open answers those of the messages given that nobody has moved, and locks them
 * @param openLeased the same without a lock, which would keep others from taking over when the lease has run out
 * @param completeAndCommit removes messages, proves that this is still the transaction that took them, and commits; fails
 *     with a state of class 40 when some of them were somebody else's already
 * @param committed answers a row if that transaction was committed
 * @param ended takes back what {@code begin} has written, where it writes
 * @param heads answers the first message of each of the ordering keys given, if it is held
 * @param held answers the next ordering keys after one given that have something held, each with the id of its first message
 *     and whether it is held itself, however many wait behind it
 * @param oldest how long the oldest message has waited that is received or failed, whenever it is due: what is due at once is
 *     in the order of receipt in the index, and of what is due later each look reads {@code :limit} rows at most
 * @param duplicates counts duplicates on their markers, and need not be durable either
 * @param running notes what a worker is about to run, and need not be durable when the database crashes
 */
record QueueSql(
        String now,
        String byId,
        String insert,
        String turns,
        String blocked,
        String isolation,
        String begin,
        String take,
        String takeHeads,
        String peeked,
        String followers,
        String open,
        String openLeased,
        String completeAndCommit,
        String committed,
        String ended,
        String heads,
        String held,
        String oldest,
        String duplicates,
        String running) {
    /** The due time of what a worker may take at once. It is no time, so no clock that is set back makes it wait. */
    static final long DUE_NOW = 0;

    private static final String PENDING = "status IN (0, 2)";

    /**
     * What is due at once is in the index by age; what is due later is not.
     *
     * @param byDue the table, read by when messages are due
     * @param failed the oldest of those that have failed, as cheap as the database's indexes make it
     */
    private static String oldest(String now, String byDue, String failed) {
        return """
                SELECT %1$s - MIN(stored) FROM (
                  SELECT stored FROM (SELECT stored_at AS stored FROM %2$s
                    WHERE consumer = :consumer AND due_at = 0 AND %3$s ORDER BY id LIMIT 1) d
                  UNION ALL
                  SELECT stored FROM (SELECT stored_at AS stored, status FROM %2$s
                    WHERE consumer = :consumer AND due_at > 0 ORDER BY due_at LIMIT :limit) l WHERE %3$s
                  UNION ALL
                  %4$s
                ) p
                """.formatted(now, byDue, PENDING, failed);
    }

    /** Of those that have failed, by no index of that; but rows that stay are mostly those of messages that do not get through. */
    private static String oldestRows(String byId) {
        return "SELECT stored FROM (SELECT stored_at AS stored, consumer, status FROM " + byId
                + " ORDER BY id LIMIT :limit) f WHERE consumer = :consumer AND status = 2";
    }

    private static final String SIZE = "(OCTET_LENGTH(q.head) + OCTET_LENGTH(q.payload))";

    /** What is large is left out, and read when it is known that it fits: see {@link LargeMessages}. */
    private static final String COLUMNS = "q.id, q.message_key, q.readable, CASE WHEN " + SIZE
            + " <= :inline THEN q.head END, CASE WHEN " + SIZE + " <= :inline THEN q.payload END, q.fence, q.started,"
            + " q.failed, q.stored_at, q.order_key, q.status, " + SIZE + ", %s - q.stored_at";

    private static String columns(String now) {
        return COLUMNS.formatted(now);
    }

    private static final String NOT_OVERTAKING = """
            AND (q.order_key IS NULL OR NOT EXISTS (SELECT 1 FROM ${queue} p WHERE p.consumer = q.consumer
              AND p.order_key = q.order_key AND p.id < q.id AND p.status <> %d))
            """.formatted(QueueState.FAILED_TERMINAL.code());

    private static String take(String token, String from, String now, String heads, String lock) {
        return """
                SELECT %s, %s FROM %s
                WHERE q.consumer = :consumer AND q.due_at <= (SELECT %s) %s
                ORDER BY q.due_at, q.id LIMIT :limit FOR UPDATE %s
                """.formatted(columns(now), token, from, now, heads, lock);
    }

    private static final String PG_TOKEN = "CAST(pg_current_xact_id() AS text)";

    private static final String PG_GIVEN = "unnest(CAST(:ids AS bigint[]), CAST(:fences AS bigint[])) AS d(i, f)";

    private static final String PG_OPEN =
            "SELECT q.id, " + PG_TOKEN + " FROM ${queue} q JOIN " + PG_GIVEN + " ON q.id = d.i AND q.fence = d.f";

    /** In a space of its own for each set of tables; ended by the commit, so it needs no session. */
    private static final String PG_TURNS = "SELECT count(pg_advisory_xact_lock(:space, s))"
            + " FROM (SELECT s FROM unnest(CAST(:stripes AS integer[])) AS s ORDER BY s) t";

    /** Loses nothing but a count when the server crashes, and saves the wait for the disk. */
    private static final String NOT_DURABLE = "set_config('synchronous_commit', 'off', true) IS NOT NULL";

    static final QueueSql POSTGRESQL = postgreSql(RetentionSql.POSTGRESQL.now());

    private static QueueSql postgreSql(String now) {
        return new QueueSql(
                now,
                "${queue} q",
                """
                INSERT INTO ${queue} (consumer, message_key, readable, stored_at, due_at, status, order_key,
                  ordering_key, message_type, head, payload, stream_key, version)
                SELECT :consumer, k, r, n, CASE WHEN b THEN NULL ELSE 0 END, CASE WHEN b THEN 3 ELSE 0 END, o, ok, t, h, p,
                  s, v
                FROM unnest(CAST(:keys AS uuid[]), CAST(:readables AS text[]), CAST(:behind AS boolean[]),
                  CAST(:orders AS uuid[]), CAST(:orderings AS text[]), CAST(:types AS text[]), CAST(:heads AS bytea[]),
                  CAST(:payloads AS bytea[]), CAST(:streams AS uuid[]), CAST(:versions AS bigint[]))
                  WITH ORDINALITY AS m(k, r, b, o, ok, t, h, p, s, v, i),
                  (SELECT %s AS n) c
                ORDER BY i
                """.formatted(now),
                PG_TURNS,
                PG_TURNS + """
                ; SELECT k FROM unnest(CAST(:orders AS uuid[])) AS k WHERE EXISTS (SELECT 1 FROM ${queue}
                  WHERE consumer = :consumer AND order_key = k AND status <> 5)
                """,
                "",
                "",
                take(PG_TOKEN, "${queue} q", now, "", "OF q SKIP LOCKED"),
                take(PG_TOKEN, "${queue} q", now, NOT_OVERTAKING, "OF q SKIP LOCKED"),
                "",
                """
                SELECT q.* FROM unnest(CAST(:orders AS uuid[])) AS k, LATERAL (SELECT %s, %s FROM ${queue} q
                  WHERE q.consumer = :consumer AND q.order_key = k AND q.status <> 5 ORDER BY q.id LIMIT :each) q
                """.formatted(columns(now), PG_TOKEN),
                PG_OPEN + " FOR UPDATE OF q SKIP LOCKED",
                PG_OPEN,
                """
                WITH gone AS (DELETE FROM ${queue} q USING %1$s WHERE q.id = d.i AND q.fence = d.f RETURNING 1)
                SELECT CAST(CASE WHEN CAST(pg_current_xact_id_if_assigned() AS text) = :token THEN '1' ELSE %2$s END AS int),
                  CASE WHEN n = CAST(:count AS bigint) THEN 0 ELSE CAST('lost but ' || n AS integer) END
                FROM (SELECT count(*) AS n FROM gone) c; COMMIT
                """.formatted(PG_GIVEN, PostgreSql.LOST),
                "SELECT 1 WHERE pg_xact_status(CAST(:token AS xid8)) = 'committed'",
                "",
                """
                SELECT h.id FROM unnest(CAST(:orders AS uuid[])) AS k, LATERAL (SELECT id, status FROM ${queue}
                  WHERE consumer = :consumer AND order_key = k AND status <> 5 ORDER BY id LIMIT 1) h
                WHERE h.status = 3
                """,
                """
                WITH RECURSIVE line (k) AS (
                  SELECT (SELECT order_key FROM ${queue} WHERE consumer = :consumer AND status = 3 AND order_key > :after
                    ORDER BY order_key LIMIT 1)
                  UNION ALL
                  SELECT (SELECT order_key FROM ${queue} WHERE consumer = :consumer AND status = 3 AND order_key > k
                    ORDER BY order_key LIMIT 1) FROM line WHERE k IS NOT NULL)
                SELECT k, h.id, CASE WHEN h.status = 3 THEN 1 ELSE 0 END
                FROM (SELECT k FROM line WHERE k IS NOT NULL LIMIT :limit) l, LATERAL (SELECT id, status FROM ${queue}
                  WHERE consumer = :consumer AND order_key = k AND status <> 5 ORDER BY id LIMIT 1) h
                """,
                oldest(
                        now,
                        "${queue}",
                        "SELECT stored FROM (SELECT stored_at AS stored FROM ${queue} WHERE consumer = :consumer"
                                + " AND status = 2 AND status > 0 ORDER BY id LIMIT 1) f"),
                """
                UPDATE ${marker} m SET duplicates = coalesce(m.duplicates, 0) + d.n, duplicate_at = %1$s
                FROM (SELECT k, count(*) AS n FROM unnest(CAST(:keys AS uuid[])) AS k GROUP BY k ORDER BY k) d
                WHERE m.consumer = :consumer AND m.message_key = d.k AND %2$s
                """.formatted(now, NOT_DURABLE),
                """
                INSERT INTO ${worker} (worker, consumer, name, seen_at, running)
                SELECT :worker, :consumer, :name, %1$s, :running WHERE %2$s
                ON CONFLICT (worker) DO UPDATE SET running = excluded.running, seen_at = excluded.seen_at
                """.formatted(now, NOT_DURABLE));
    }

    private static final String THESE = "({OR (q.id = :id AND q.fence = :fence)})";

    private static final String VALUES = """
            INSERT INTO ${queue} (consumer, message_key, readable, stored_at, due_at, status, order_key, ordering_key,
              message_type, head, payload, stream_key, version)
            VALUES {(:consumer, :key, :readable, %1$s, CASE WHEN :behind = 1 THEN NULL ELSE 0 END,
              CASE WHEN :behind = 1 THEN 3 ELSE 0 END, :order, :ordering, :type, :head, :payload, :stream,
              :version)}
            """;

    private static final String TURNS =
            "SELECT stripe FROM ${line}%s WHERE stripe IN ({:stripe}) ORDER BY stripe FOR UPDATE";

    private static final String BLOCKED = "SELECT DISTINCT order_key FROM ${queue} WHERE consumer = :consumer"
            + " AND order_key IN ({:order}) AND status <> 5";

    private static final String HEAD = """
            SELECT id FROM (SELECT id, status FROM ${queue} WHERE consumer = :consumer AND order_key = {:order}
              AND status <> 5 ORDER BY id LIMIT 1) h WHERE status = 3
            """;

    private static final String HELD = """
            SELECT order_key, head_id, CASE WHEN head_id = held_id THEN 1 ELSE 0 END FROM (
              SELECT h.order_key, h.held_id, (SELECT p.id FROM ${queue} p WHERE p.consumer = :consumer
                AND p.order_key = h.order_key AND p.status <> 5 ORDER BY p.id LIMIT 1) AS head_id
              FROM (SELECT order_key, MIN(id) AS held_id FROM ${queue} WHERE consumer = :consumer AND status = 3
                AND order_key > :after GROUP BY order_key ORDER BY order_key LIMIT :limit) h) l
            ORDER BY order_key
            """;

    private static final String DUPLICATES = "UPDATE ${marker} SET duplicates = COALESCE(duplicates, 0) + 1,"
            + " duplicate_at = %s WHERE consumer = :consumer AND message_key IN ({:key})";

    private static final String TRACE = "INSERT INTO ${run} (claim_id) VALUES (:claimid)";
    private static final String NO_TRACE = "DELETE FROM ${run} WHERE claim_id = :claimid";
    private static final String TRACED = "SELECT 1 FROM ${run} WHERE claim_id = :claimid";

    private static String line(String now, String token) {
        return "SELECT " + columns(now) + ", " + token + " FROM ${queue} q WHERE q.consumer = :consumer"
                + " AND q.order_key = {:order} AND q.status <> 5 ORDER BY q.id LIMIT :each";
    }

    /**
     * What is due is looked up without locks, in the order of the index, and then locked by its ids: a scan that locks would
     * also lock the first entry that is not due, and so keep whoever has leased that message from renewing or completing.
     */
    private static String peekAndTake(String now, String heads) {
        return """
                SELECT %1$s, NULL FROM (%4$s) d
                STRAIGHT_JOIN ${queue} q FORCE INDEX (PRIMARY) ON q.id = d.id
                WHERE q.due_at <= (SELECT %2$s) %3$s LIMIT :limit FOR UPDATE SKIP LOCKED
                """.formatted(columns(now), now, heads, peek(now));
    }

    private static String peek(String now) {
        return "SELECT id FROM ${queue} FORCE INDEX (${prefix}queue_due) WHERE consumer = :consumer"
                + " AND due_at <= (SELECT " + now + ") ORDER BY due_at, id LIMIT :peek";
    }

    static final QueueSql MARIADB = mariaDb("TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))");

    private static QueueSql mariaDb(String now) {
        String byId = "${queue} q FORCE INDEX (PRIMARY)";
        String open = "SELECT q.id, NULL FROM " + byId + " WHERE " + THESE;
        return new QueueSql(
                now,
                byId,
                VALUES.formatted(now),
                TURNS.formatted(" FORCE INDEX (PRIMARY)"),
                BLOCKED,
                "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
                "BEGIN NOT ATOMIC SAVEPOINT idem_guard; " + TRACE + "; END",
                peekAndTake(now, ""),
                peekAndTake(now, NOT_OVERTAKING),
                "SELECT COUNT(*) FROM (" + peek(now) + ") d",
                line(now, "NULL"),
                open + " FOR UPDATE SKIP LOCKED",
                open,
                """
                BEGIN NOT ATOMIC
                  RELEASE SAVEPOINT idem_guard;
                  %s;
                  DELETE q FROM %s WHERE %s;
                  IF ROW_COUNT() <> :count THEN
                    SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'messages belong to another worker';
                  END IF;
                  COMMIT;
                END
                """.formatted(NO_TRACE, byId, THESE),
                TRACED,
                NO_TRACE,
                HEAD,
                HELD,
                oldest(now, "${queue} FORCE INDEX (${prefix}queue_due)", oldestRows(byId)),
                DUPLICATES.formatted(now),
                """
                INSERT INTO ${worker} (worker, consumer, name, seen_at, running)
                VALUES (:worker, :consumer, :name, %s, :running)
                ON DUPLICATE KEY UPDATE running = VALUES(running), seen_at = VALUES(seen_at)
                """.formatted(now));
    }

    static final QueueSql H2 = h2(RetentionSql.H2.now());

    private static QueueSql h2(String now) {
        String open = "SELECT q.id, TRANSACTION_ID() FROM ${queue} q WHERE " + THESE;
        return new QueueSql(
                now,
                "${queue} q",
                VALUES.formatted(now),
                TURNS.formatted(""),
                BLOCKED,
                "",
                TRACE,
                take("TRANSACTION_ID()", "${queue} q", now, "", "SKIP LOCKED"),
                take("TRANSACTION_ID()", "${queue} q", now, NOT_OVERTAKING, "SKIP LOCKED"),
                "",
                line(now, "TRANSACTION_ID()"),
                open + " FOR UPDATE SKIP LOCKED",
                open,
                """
                SELECT 1 / CASE WHEN TRANSACTION_ID() = :token THEN 1 ELSE 0 END;
                %s;
                SELECT CASE WHEN COUNT(*) = :count THEN 0 ELSE CAST('lost but ' || COUNT(*) AS INT) END
                FROM OLD TABLE (DELETE FROM ${queue} q WHERE %s);
                COMMIT
                """.formatted(NO_TRACE, THESE),
                TRACED,
                NO_TRACE,
                HEAD,
                HELD,
                oldest(now, "${queue}", oldestRows("${queue}")),
                DUPLICATES.formatted(now),
                """
                MERGE INTO ${worker} (worker, consumer, name, seen_at, running) KEY (worker)
                VALUES (:worker, :consumer, :name, %s, :running)
                """.formatted(now));
    }

    static QueueSql of(Database database) {
        return switch (database) {
            case POSTGRESQL -> POSTGRESQL;
            case MARIADB -> MARIADB;
            case H2 -> H2;
        };
    }
}
