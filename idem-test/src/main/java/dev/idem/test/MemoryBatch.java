package dev.idem.test;

import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import dev.idem.spi.TransientStoreException;
import dev.idem.spi.UnitOfWork;
import java.sql.Connection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Claims held in memory together. There is nothing that handlers could write, so there is nothing to undo. */
final class MemoryBatch implements Batch {
    private final MemoryStore store;
    private final Map<MarkerKey, MemoryUnit> granted;
    private final Map<MarkerKey, Claim> refused;
    private final Map<MarkerKey, StoredResult> results = new HashMap<>();
    private volatile boolean lost;

    MemoryBatch(MemoryStore store, Map<MarkerKey, MemoryUnit> granted, Map<MarkerKey, Claim> refused) {
        this.store = store;
        this.granted = new ConcurrentHashMap<>(granted);
        this.refused = refused;
    }

    @Override
    public Map<MarkerKey, Claim> refused() {
        return refused;
    }

    @Override
    public String claimId(MarkerKey key) {
        MemoryUnit unit = granted.get(key);
        if (unit == null) {
            throw new IllegalArgumentException(key + " was not granted");
        }
        return unit.claimId();
    }

    @Override
    public UnitOfWork begin(List<MarkerKey> keys, @Nullable String lane) {
        return new Part(keys.get(0));
    }

    @Override
    public void giveUp(MarkerKey key) {
        MemoryUnit unit = granted.remove(key);
        if (unit != null) {
            store.release(unit);
        }
    }

    @Override
    public Map<UnitOfWork, Throwable> flush() {
        return Map.of();
    }

    @Override
    public boolean forget(UnitOfWork unit) {
        return true;
    }

    @Override
    public boolean usable() {
        return !lost;
    }

    @Override
    public void commit() {
        if (lost) {
            throw new TransientStoreException("The batch was given up before its commit", null);
        }
        Map<MemoryUnit, Optional<StoredResult>> units = new HashMap<>();
        granted.forEach((key, unit) -> units.put(unit, Optional.ofNullable(results.get(key))));
        store.commit(units);
    }

    @Override
    public void close() {
        lost = true;
        granted.values().forEach(store::release);
    }

    /** One handler's part. */
    private final class Part implements UnitOfWork {
        private final MarkerKey first;

        Part(MarkerKey first) {
            this.first = first;
        }

        @Override
        public String claimId() {
            return MemoryBatch.this.claimId(first);
        }

        @Override
        public Connection connection() {
            throw new UnsupportedOperationException(MemoryUnit.NO_TRANSACTION);
        }

        @Override
        public DataSource dataSource() {
            throw new UnsupportedOperationException(MemoryUnit.NO_TRANSACTION);
        }

        @Override
        public boolean used() {
            return true;
        }

        @Override
        public void revoke() {}

        @Override
        public void commit(@Nullable StoredResult result) {
            if (result != null) {
                results.put(first, result);
            }
        }

        @Override
        public void rollback() {}

        @Override
        public void abandon() {
            MemoryBatch.this.close();
        }

        @Override
        public void close() {}
    }
}
