package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.guard.Guard;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One handler's part of a batch's transaction. */
final class BatchPart extends GuardedUnit {
    private final JdbcBatch batch;
    private final List<MarkerKey> keys;
    private final Object lane;
    private boolean deferring;

    BatchPart(JdbcBatch batch, List<MarkerKey> keys, @Nullable String lane, BatchKit kit, Guard guard) {
        super(keys.get(0), kit, guard);
        this.batch = batch;
        this.keys = keys;
        this.lane = lane == null ? this : lane;
    }

    List<MarkerKey> keys() {
        return keys;
    }

    @Override
    public String claimId() {
        return batch.claimId(key);
    }

    @Override
    public void defer(String sql, @Nullable Object... args) {
        checkDeferred(sql, args);
        deferring = true;
        batch.deferred().add(this, List.of(lane), sql, args);
    }

    @Override
    public void deferInOrder(String line, String sql, @Nullable Object... args) {
        checkDeferred(sql, args);
        deferring = true;
        batch.deferred().addLast(this, line, sql, args);
    }

    @Override
    public boolean used() {
        return wrote() || deferring;
    }

    /** Whether it sent anything itself. */
    boolean wrote() {
        return guard.used();
    }

    /** What a statement of its failed with last, if one did. */
    @Nullable
    SQLException failed() {
        return guard.failed();
    }

    @Override
    public void revoke() {
        if (!takeAway()) {
            batch.tearDown();
            throw strayThread();
        }
        SQLException where = guard.condemned();
        if (where != null) {
            throw rolledBackInside(where);
        }
        SQLException swallowed = guard.failed();
        if (swallowed != null) {
            batch.refuseSwallowed(this, swallowed);
        }
    }

    /** Kept; the batch commits. */
    @Override
    public void commit(@Nullable StoredResult result) {
        batch.keep(this, result);
    }

    @Override
    public void rollback() {
        if (takeAway()) {
            batch.undo(this);
        } else {
            batch.tearDown();
        }
    }

    @Override
    public void abandon() {
        guard.revoke();
        guard.cancelRunning();
        batch.tearDown();
    }

    @Override
    public void close() {
        guard.revoke();
    }
}
