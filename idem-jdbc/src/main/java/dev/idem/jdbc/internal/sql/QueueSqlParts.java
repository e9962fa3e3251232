package dev.idem.jdbc.internal.sql;

import dev.idem.queue.QueueState;

/** What several databases' statements on stored messages are made of. */
final class QueueSqlParts {
    private static final String PENDING = "status IN (0, 2)";

    /**
     * What is due at once is in the index by age; what is due later is not.
     *
     * @param byDue the table, read by when messages are due
     * @param failed the oldest of those that have failed, as cheap as the database's indexes make it
     */
    static String oldest(String now, String byDue, String failed) {
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
    static String oldestRows(String byId) {
        return "SELECT stored FROM (SELECT stored_at AS stored, consumer, status FROM " + byId
                + " ORDER BY id LIMIT :limit) f WHERE consumer = :consumer AND status = 2";
    }

    private static final String SIZE = "(OCTET_LENGTH(q.head) + OCTET_LENGTH(q.payload))";

    /** What is large is left out, and read when it is known that it fits. */
    private static final String COLUMNS = "q.id, q.message_key, q.readable, CASE WHEN " + SIZE
            + " <= :inline THEN q.head END, CASE WHEN " + SIZE + " <= :inline THEN q.payload END, q.fence, q.started,"
            + " q.failed, q.stored_at, q.order_key, q.status, " + SIZE + ", %s - q.stored_at";

    /** What is read of a stored message; its age comes last. */
    static String columns(String now) {
        return COLUMNS.formatted(now);
    }

    static final String NOT_OVERTAKING = """
            AND (q.order_key IS NULL OR NOT EXISTS (SELECT 1 FROM ${queue} p WHERE p.consumer = q.consumer
              AND p.order_key = q.order_key AND p.id < q.id AND p.status <> %d))
            """.formatted(QueueState.FAILED_TERMINAL.code());

    static String take(String token, String from, String now, String heads, String lock) {
        return """
                SELECT %s, %s FROM %s
                WHERE q.consumer = :consumer AND q.due_at <= (SELECT %s) %s
                ORDER BY q.due_at, q.id LIMIT :limit FOR UPDATE %s
                """.formatted(columns(now), token, from, now, heads, lock);
    }

    // What follows is for databases that bind no arrays.

    static final String THESE = "({OR (q.id = :id AND q.fence = :fence)})";

    static final String VALUES = """
            INSERT INTO ${queue} (consumer, message_key, readable, stored_at, due_at, status, order_key, ordering_key,
              message_type, head, payload, stream_key, version)
            VALUES {(:consumer, :key, :readable, %1$s, CASE WHEN :behind = 1 THEN NULL ELSE 0 END,
              CASE WHEN :behind = 1 THEN 3 ELSE 0 END, :order, :ordering, :type, :head, :payload, :stream,
              :version)}
            """;

    static final String STRIPES = "SELECT stripe FROM ${line}%s WHERE stripe IN ({:stripe}) ORDER BY stripe FOR UPDATE";

    static final String BLOCKED = "SELECT DISTINCT order_key FROM ${queue} WHERE consumer = :consumer"
            + " AND order_key IN ({:order}) AND status <> 5";

    static final String HEAD = """
            SELECT id FROM (SELECT id, status FROM ${queue} WHERE consumer = :consumer AND order_key = {:order}
              AND status <> 5 ORDER BY id LIMIT 1) h WHERE status = 3
            """;

    static final String HELD = """
            SELECT order_key, head_id, CASE WHEN head_id = held_id THEN 1 ELSE 0 END FROM (
              SELECT h.order_key, h.held_id, (SELECT p.id FROM ${queue} p WHERE p.consumer = :consumer
                AND p.order_key = h.order_key AND p.status <> 5 ORDER BY p.id LIMIT 1) AS head_id
              FROM (SELECT order_key, MIN(id) AS held_id FROM ${queue} WHERE consumer = :consumer AND status = 3
                AND order_key > :after GROUP BY order_key ORDER BY order_key LIMIT :limit) h) l
            ORDER BY order_key
            """;

    static final String DUPLICATES = "UPDATE ${marker} SET duplicates = COALESCE(duplicates, 0) + 1,"
            + " duplicate_at = %s WHERE consumer = :consumer AND message_key IN ({:key})";

    static final String TRACE = "INSERT INTO ${run} (claim_id) VALUES (:claimid)";
    static final String NO_TRACE = "DELETE FROM ${run} WHERE claim_id = :claimid";
    static final String TRACED = "SELECT 1 FROM ${run} WHERE claim_id = :claimid";

    static String line(String now, String token) {
        return "SELECT " + columns(now) + ", " + token + " FROM ${queue} q WHERE q.consumer = :consumer"
                + " AND q.order_key = {:order} AND q.status <> 5 ORDER BY q.id LIMIT :each";
    }

    private QueueSqlParts() {}
}
