package dev.idem.jdbc.internal.sql;

/** Stored messages on PostgreSQL. */
final class PostgreSqlQueueSql {
    private static final String PG_TOKEN = "CAST(pg_current_xact_id() AS text)";

    private static final String PG_GIVEN = "unnest(CAST(:ids AS bigint[]), CAST(:fences AS bigint[])) AS d(i, f)";

    private static final String PG_OPEN =
            "SELECT q.id, " + PG_TOKEN + " FROM ${queue} q JOIN " + PG_GIVEN + " ON q.id = d.i AND q.fence = d.f";

    /** In a space of its own for each set of tables; ended by the commit, so it needs no session. */
    private static final String PG_LOCKS = "SELECT count(pg_advisory_xact_lock(:space, s))"
            + " FROM (SELECT s FROM unnest(CAST(:stripes AS integer[])) AS s ORDER BY s) t";

    /** Loses nothing but a count when the server crashes, and saves the wait for the disk. */
    private static final String NOT_DURABLE = "set_config('synchronous_commit', 'off', true) IS NOT NULL";

    static final QueueSql SQL = statements(RetentionSql.POSTGRESQL.now());

    private PostgreSqlQueueSql() {}

    private static QueueSql statements(String now) {
        return QueueSql.builder()
                .now(now)
                .byId("${queue} q")
                .insert("""
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
                """.formatted(now))
                .orderingLocks(PG_LOCKS)
                .blocked(PG_LOCKS + """
                ; SELECT k FROM unnest(CAST(:orders AS uuid[])) AS k WHERE EXISTS (SELECT 1 FROM ${queue}
                  WHERE consumer = :consumer AND order_key = k AND status <> 5)
                """)
                .take(QueueSqlParts.take(PG_TOKEN, "${queue} q", now, "", "OF q SKIP LOCKED"))
                .takeHeads(QueueSqlParts.take(
                        PG_TOKEN, "${queue} q", now, QueueSqlParts.NOT_OVERTAKING, "OF q SKIP LOCKED"))
                .followers("""
                SELECT q.* FROM unnest(CAST(:orders AS uuid[])) AS k, LATERAL (SELECT %s, %s FROM ${queue} q
                  WHERE q.consumer = :consumer AND q.order_key = k AND q.status <> 5 ORDER BY q.id LIMIT :each) q
                """.formatted(QueueSqlParts.columns(now), PG_TOKEN))
                .open(PG_OPEN + " FOR UPDATE OF q SKIP LOCKED")
                .openLeased(PG_OPEN)
                .completeAndCommit("""
                WITH gone AS (DELETE FROM ${queue} q USING %1$s WHERE q.id = d.i AND q.fence = d.f RETURNING 1)
                SELECT CAST(CASE WHEN CAST(pg_current_xact_id_if_assigned() AS text) = :token THEN '1' ELSE %2$s END AS int),
                  CASE WHEN n = CAST(:count AS bigint) THEN 0 ELSE CAST('lost but ' || n AS integer) END
                FROM (SELECT count(*) AS n FROM gone) c; COMMIT
                """.formatted(PG_GIVEN, PostgreSql.LOST))
                .committed("SELECT 1 WHERE pg_xact_status(CAST(:token AS xid8)) = 'committed'")
                .heads("""
                SELECT h.id FROM unnest(CAST(:orders AS uuid[])) AS k, LATERAL (SELECT id, status FROM ${queue}
                  WHERE consumer = :consumer AND order_key = k AND status <> 5 ORDER BY id LIMIT 1) h
                WHERE h.status = 3
                """)
                .held("""
                WITH RECURSIVE line (k) AS (
                  SELECT (SELECT order_key FROM ${queue} WHERE consumer = :consumer AND status = 3 AND order_key > :after
                    ORDER BY order_key LIMIT 1)
                  UNION ALL
                  SELECT (SELECT order_key FROM ${queue} WHERE consumer = :consumer AND status = 3 AND order_key > k
                    ORDER BY order_key LIMIT 1) FROM line WHERE k IS NOT NULL)
                SELECT k, h.id, CASE WHEN h.status = 3 THEN 1 ELSE 0 END
                FROM (SELECT k FROM line WHERE k IS NOT NULL LIMIT :limit) l, LATERAL (SELECT id, status FROM ${queue}
                  WHERE consumer = :consumer AND order_key = k AND status <> 5 ORDER BY id LIMIT 1) h
                """)
                .oldest(QueueSqlParts.oldest(
                        now,
                        "${queue}",
                        "SELECT stored FROM (SELECT stored_at AS stored FROM ${queue} WHERE consumer = :consumer"
                                + " AND status = 2 AND status > 0 ORDER BY id LIMIT 1) f"))
                .duplicates("""
                UPDATE ${marker} m SET duplicates = coalesce(m.duplicates, 0) + d.n, duplicate_at = %1$s
                FROM (SELECT k, count(*) AS n FROM unnest(CAST(:keys AS uuid[])) AS k GROUP BY k ORDER BY k) d
                WHERE m.consumer = :consumer AND m.message_key = d.k AND %2$s
                """.formatted(now, NOT_DURABLE))
                .running("""
                INSERT INTO ${worker} (worker, consumer, name, seen_at, running)
                SELECT :worker, :consumer, :name, %1$s, :running WHERE %2$s
                ON CONFLICT (worker) DO UPDATE SET running = excluded.running, seen_at = excluded.seen_at
                """.formatted(now, NOT_DURABLE))
                .build();
    }
}
