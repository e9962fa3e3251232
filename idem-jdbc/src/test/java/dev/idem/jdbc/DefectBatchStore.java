package dev.idem.jdbc;

import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.UnitOfWork;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The relational store with something between it and the inbox's batches; a defect overrides what it gets wrong. */
class DefectBatchStore extends DefectStore implements MarkerStore.Batching {
    private final JdbcStore real;

    DefectBatchStore(JdbcStore real) {
        super(real);
        this.real = real;
    }

    void giveUp(Batch batch, MarkerKey key) {
        batch.giveUp(key);
    }

    void close(Batch batch) {
        batch.close();
    }

    @Override
    public Batch claimAll(List<ClaimRequest> requests) {
        return new DefectBatch(real.claimAll(requests));
    }

    private final class DefectBatch implements Batch {
        private final Batch batch;
        private final Map<UnitOfWork, UnitOfWork> realOf = new HashMap<>();

        DefectBatch(Batch batch) {
            this.batch = batch;
        }

        @Override
        public Map<MarkerKey, Claim> refused() {
            return batch.refused();
        }

        @Override
        public String claimId(MarkerKey key) {
            return batch.claimId(key);
        }

        @Override
        public UnitOfWork begin(List<MarkerKey> keys, String lane) {
            UnitOfWork realUnit = batch.begin(keys, lane);
            UnitOfWork shown = unit(realUnit);
            realOf.put(shown, realUnit);
            return shown;
        }

        @Override
        public void giveUp(MarkerKey key) {
            DefectBatchStore.this.giveUp(batch, key);
        }

        @Override
        public Map<UnitOfWork, Throwable> flush() {
            Map<UnitOfWork, Throwable> failed = new LinkedHashMap<>();
            Map<UnitOfWork, Throwable> told = batch.flush();
            realOf.forEach((shown, realUnit) -> {
                if (told.containsKey(realUnit)) {
                    failed.put(shown, told.get(realUnit));
                }
            });
            return failed;
        }

        @Override
        public boolean forget(UnitOfWork unit) {
            return batch.forget(realOf.get(unit));
        }

        @Override
        public boolean usable() {
            return batch.usable();
        }

        @Override
        public void commit() {
            batch.commit();
        }

        @Override
        public void close() {
            DefectBatchStore.this.close(batch);
        }
    }
}
