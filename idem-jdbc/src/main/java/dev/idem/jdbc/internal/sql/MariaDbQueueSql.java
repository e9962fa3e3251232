package dev.idem.jdbc.internal.sql;

/** Stored messages on MariaDB. */
final class MariaDbQueueSql {
    static final QueueSql SQL = statements("TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))");

    private MariaDbQueueSql() {}

    private static QueueSql statements(String now) {
        String byId = "${queue} q FORCE INDEX (PRIMARY)";
        String open = "SELECT q.id, NULL FROM " + byId + " WHERE " + QueueSqlParts.THESE;
        return QueueSql.builder()
                .now(now)
                .byId(byId)
                .insert(QueueSqlParts.VALUES.formatted(now))
                .orderingLocks(QueueSqlParts.STRIPES.formatted(" FORCE INDEX (PRIMARY)"))
                .blocked(QueueSqlParts.BLOCKED)
                .isolation("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
                .begin("BEGIN NOT ATOMIC SAVEPOINT idem_guard; " + QueueSqlParts.TRACE + "; END")
                .take(peekAndTake(now, ""))
                .takeHeads(peekAndTake(now, QueueSqlParts.NOT_OVERTAKING))
                .peeked("SELECT COUNT(*) FROM (" + peek(now) + ") d")
                .followers(QueueSqlParts.line(now, "NULL"))
                .open(open + " FOR UPDATE SKIP LOCKED")
                .openLeased(open)
                .completeAndCommit("""
                BEGIN NOT ATOMIC
                  RELEASE SAVEPOINT idem_guard;
                  %s;
                  DELETE q FROM %s WHERE %s;
                  IF ROW_COUNT() <> :count THEN
                    SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'messages belong to another worker';
                  END IF;
                  COMMIT;
                END
                """.formatted(QueueSqlParts.NO_TRACE, byId, QueueSqlParts.THESE))
                .committed(QueueSqlParts.TRACED)
                .ended(QueueSqlParts.NO_TRACE)
                .heads(QueueSqlParts.HEAD)
                .held(QueueSqlParts.HELD)
                .oldest(QueueSqlParts.oldest(
                        now, "${queue} FORCE INDEX (${prefix}queue_due)", QueueSqlParts.oldestRows(byId)))
                .duplicates(QueueSqlParts.DUPLICATES.formatted(now))
                .running("""
                INSERT INTO ${worker} (worker, consumer, name, seen_at, running)
                VALUES (:worker, :consumer, :name, %s, :running)
                ON DUPLICATE KEY UPDATE running = VALUES(running), seen_at = VALUES(seen_at)
                """.formatted(now))
                .build();
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
                """.formatted(QueueSqlParts.columns(now), now, heads, peek(now));
    }

    private static String peek(String now) {
        return "SELECT id FROM ${queue} FORCE INDEX (${prefix}queue_due) WHERE consumer = :consumer"
                + " AND due_at <= (SELECT " + now + ") ORDER BY due_at, id LIMIT :peek";
    }
}
