package dev.idem;

import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.Marker;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import dev.idem.spi.TransientStoreException;
import dev.idem.spi.UnitOfWork;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** One transaction of the fake. Deferred statements that begin with "bad" or "transient" fail that way. */
public final class FakeBatch implements Batch {
    private final FakeBatchStore store;
    private final String claimId;
    private final Map<MarkerKey, ClaimRequest> granted = new LinkedHashMap<>();
    private final Map<MarkerKey, Claim> refused = new LinkedHashMap<>();
    private final List<FakeUnit> kept = new ArrayList<>();
    private final Map<MarkerKey, StoredResult> results = new LinkedHashMap<>();
    private @Nullable FakeUnit unit;
    public boolean lost;

    FakeBatch(FakeBatchStore store, String claimId, List<ClaimRequest> requests) {
        this.store = store;
        this.claimId = claimId;
        for (ClaimRequest request : requests) {
            MarkerKey key = request.key();
            Marker marker = store.markers.get(key.readable());
            if (marker != null) {
                refused.put(key, new Claim.Taken(marker));
            } else if (store.busy.contains(key.readable())) {
                refused.put(key, new Claim.Busy());
            } else {
                granted.put(key, request);
            }
        }
    }

    public FakeUnit unit() {
        return Objects.requireNonNull(unit);
    }

    public List<MarkerKey> grantedKeys() {
        return List.copyOf(granted.keySet());
    }

    /** Makes everything durable that is kept. */
    public void apply() {
        kept.forEach(part -> store.effects.addAll(part.all()));
        granted.forEach((key, request) -> store.markers.put(
                Objects.requireNonNull(key.readable()),
                new Marker(key.readable(), request.fingerprint(), FakeBatchStore.DONE_AT, claimId, results.get(key))));
    }

    @Override
    public Map<MarkerKey, Claim> refused() {
        return refused;
    }

    @Override
    public String claimId(MarkerKey key) {
        return claimId;
    }

    @Override
    public UnitOfWork begin(List<MarkerKey> keys, @Nullable String lane) {
        unit = new FakeUnit(keys);
        return unit;
    }

    @Override
    public void giveUp(MarkerKey key) {
        granted.remove(key);
    }

    @Override
    public Map<UnitOfWork, Throwable> flush() {
        Map<UnitOfWork, Throwable> failed = new LinkedHashMap<>();
        for (FakeUnit part : kept) {
            if (part.deferred.stream().anyMatch(sql -> sql.startsWith("transient"))) {
                throw new TransientStoreException("deferred " + part.deferred, null);
            }
            if (part.deferred.stream().anyMatch(sql -> sql.startsWith("bad"))) {
                failed.put(part, new IllegalArgumentException("deferred " + part.deferred));
            }
        }
        return failed;
    }

    @Override
    public boolean forget(UnitOfWork part) {
        kept.remove((FakeUnit) part);
        return ((FakeUnit) part).written.isEmpty();
    }

    @Override
    public boolean usable() {
        return !lost;
    }

    @Override
    public void commit() {
        store.commit(this);
    }

    @Override
    public void close() {
        lost = true;
    }

    /** One handler's part. */
    public final class FakeUnit implements UnitOfWork {
        public final List<MarkerKey> keys;
        final List<String> written = new ArrayList<>();
        final List<String> deferred = new ArrayList<>();

        @Nullable
        public RuntimeException revokeFault;

        @Nullable
        public RuntimeException rollbackFault;

        private boolean used = true;

        FakeUnit(List<MarkerKey> keys) {
            this.keys = keys;
        }

        void write(String effect) {
            written.add(effect);
        }

        public void unused() {
            used = false;
        }

        private List<String> all() {
            List<String> all = new ArrayList<>(written);
            all.addAll(deferred);
            return all;
        }

        @Override
        public String claimId() {
            return claimId;
        }

        @Override
        public Connection connection() {
            return ScriptedUnit.stub(Connection.class);
        }

        @Override
        public DataSource dataSource() {
            return ScriptedUnit.stub(DataSource.class);
        }

        @Override
        public void defer(String sql, @Nullable Object... args) {
            deferred.add(sql);
        }

        @Override
        public boolean used() {
            return used;
        }

        @Override
        public void revoke() {
            if (revokeFault != null) {
                throw revokeFault;
            }
        }

        @Override
        public void commit(@Nullable StoredResult result) {
            kept.add(this);
            if (result != null) {
                results.put(keys.get(0), result);
            }
        }

        @Override
        public void rollback() {
            written.clear();
            deferred.clear();
            if (rollbackFault != null) {
                throw rollbackFault;
            }
        }

        @Override
        public void abandon() {
            lost = true;
        }

        @Override
        public void close() {
            store.effects.add("closed without end");
        }
    }
}
