package dev.idem.jdbc.internal.sql;

/** Stored messages on H2. */
final class H2QueueSql {
    static final QueueSql SQL = statements(RetentionSql.H2.now());

    private H2QueueSql() {}

    private static QueueSql statements(String now) {
        String open = "SELECT q.id, TRANSACTION_ID() FROM ${queue} q WHERE " + QueueSqlParts.THESE;
        return QueueSql.builder()
                .now(now)
                .byId("${queue} q")
                .insert(QueueSqlParts.VALUES.formatted(now))
                .orderingLocks(QueueSqlParts.STRIPES.formatted(""))
                .blocked(QueueSqlParts.BLOCKED)
                .begin(QueueSqlParts.TRACE)
                .take(QueueSqlParts.take("TRANSACTION_ID()", "${queue} q", now, "", "SKIP LOCKED"))
                .takeHeads(QueueSqlParts.take(
                        "TRANSACTION_ID()", "${queue} q", now, QueueSqlParts.NOT_OVERTAKING, "SKIP LOCKED"))
                .followers(QueueSqlParts.line(now, "TRANSACTION_ID()"))
                .open(open + " FOR UPDATE SKIP LOCKED")
                .openLeased(open)
                .completeAndCommit("""
                SELECT 1 / CASE WHEN TRANSACTION_ID() = :token THEN 1 ELSE 0 END;
                %s;
                SELECT CASE WHEN COUNT(*) = :count THEN 0 ELSE CAST('lost but ' || COUNT(*) AS INT) END
                FROM OLD TABLE (DELETE FROM ${queue} q WHERE %s);
                COMMIT
                """.formatted(QueueSqlParts.NO_TRACE, QueueSqlParts.THESE))
                .committed(QueueSqlParts.TRACED)
                .ended(QueueSqlParts.NO_TRACE)
                .heads(QueueSqlParts.HEAD)
                .held(QueueSqlParts.HELD)
                .oldest(QueueSqlParts.oldest(now, "${queue}", QueueSqlParts.oldestRows("${queue}")))
                .duplicates(QueueSqlParts.DUPLICATES.formatted(now))
                .running("""
                MERGE INTO ${worker} (worker, consumer, name, seen_at, running) KEY (worker)
                VALUES (:worker, :consumer, :name, %s, :running)
                """.formatted(now))
                .build();
    }
}
