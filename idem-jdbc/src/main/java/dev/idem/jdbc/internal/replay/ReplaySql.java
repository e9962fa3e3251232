package dev.idem.jdbc.internal.replay;

import dev.idem.jdbc.internal.sql.NamedSql;
import dev.idem.jdbc.internal.sql.QueueSql;
import dev.idem.jdbc.internal.sql.RowsSql;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.queue.QueueState;
import dev.idem.spi.StepRecord;

/** The statements on replay sessions, the same for all databases but for the clock. */
final class ReplaySql {
    private static final String SELECT = "SELECT r.name, c.name, r.source, r.actor, r.reason, r.per_second, r.dry_run,"
            + " r.status, r.policy, r.place, r.total, r.decided, r.processed, r.duplicates, r.suppressed,"
            + " r.undecidable, r.rejected, r.failed, r.worker, r.lease_until, r.fence, r.created_at, r.updated_at,"
            + " r.error, r.consumer, r.effects FROM ${replay} r JOIN ${consumer} c ON c.number = r.consumer";

    final NamedSql find;
    final NamedSql list;
    final NamedSql count;
    final NamedSql insert;
    final NamedSql forgetSkipped;
    final NamedSql move;
    final RowsSql claimable;
    final NamedSql claim;
    final NamedSql renew;
    final NamedSql step;
    final NamedSql end;
    final NamedSql release;
    final NamedSql horizon;

    ReplaySql(Tables tables) {
        String now = QueueSql.of(tables.dialect().database()).now();
        find = new NamedSql(tables.fill(SELECT + " WHERE r.name = :name"));
        list = new NamedSql(tables.fill(SELECT + " ORDER BY r.created_at DESC, r.name LIMIT :limit"));
        count = new NamedSql(tables.fill("UPDATE ${consumer} SET sessions = sessions + 1 WHERE number = :consumer"));
        insert = new NamedSql(tables.fill("INSERT INTO ${replay} (name, consumer, source, actor, reason, per_second,"
                + " dry_run, status, ordinal, created_at, updated_at) VALUES (:name, :consumer, :source, :actor, :reason,"
                + " :rate, :dry, 'REQUESTED', (SELECT sessions FROM ${consumer} WHERE number = :consumer), " + now
                + ", "
                + now + ")"));
        forgetSkipped = new NamedSql(tables.fill("DELETE FROM ${step} WHERE consumer = :consumer AND kind = "
                + StepRecord.Kind.STEP.code() + " AND message_key IN (SELECT q.message_key FROM ${queue} q"
                + " WHERE q.consumer = :consumer AND q.status = " + QueueState.FAILED_TERMINAL.code() + ")"));
        move = new NamedSql(tables.fill("UPDATE ${replay} SET status = :to, updated_at = " + now
                + " WHERE name = :name AND status = :from AND fence = :fence"));
        claimable = new RowsSql(tables.fill(SELECT + " WHERE c.name IN ({:consumer}) AND (r.status = 'REQUESTED'"
                + " OR (r.status = 'RUNNING' AND (r.lease_until IS NULL OR r.lease_until < " + now + ")))"
                + " ORDER BY r.updated_at, r.name LIMIT 10"));
        claim = new NamedSql(tables.fill("UPDATE ${replay} SET status = 'RUNNING', worker = :worker,"
                + " lease_until = " + now + " + :lease, fence = fence + 1, updated_at = " + now
                + " WHERE name = :name AND fence = :fence AND status = :from"));
        String lease = "UPDATE ${replay} SET lease_until = " + now + " + :lease, updated_at = " + now;
        String held = " WHERE name = :name AND fence = :fence";
        renew = new NamedSql(tables.fill(lease + held));
        step = new NamedSql(tables.fill(lease + ", policy = :policy, place = COALESCE(:place, place),"
                + " total = COALESCE(:total, total), decided = decided + :decided, processed = processed + :processed,"
                + " duplicates = duplicates + :duplicates, suppressed = suppressed + :suppressed,"
                + " undecidable = undecidable + :undecidable, rejected = rejected + :rejected,"
                + " failed = failed + :failed, error = COALESCE(:error, error),"
                + " effects = COALESCE(:effects, effects)" + held));
        end = new NamedSql(tables.fill("UPDATE ${replay} SET status = :to, error = COALESCE(:error, error),"
                + " lease_until = NULL, updated_at = " + now + held + " AND status = 'RUNNING'"));
        release = new NamedSql(tables.fill("UPDATE ${replay} SET lease_until = NULL" + held));
        horizon = new NamedSql(tables.fill("SELECT r.horizon FROM ${retention} r JOIN ${consumer} c"
                + " ON c.number = r.consumer WHERE c.name = :consumer"));
    }
}
