package dev.idem.test;

import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.UnitOfWork;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A real batch with another end, and with units that may be disguised. */
final class FlakyBatch implements Batch {
    private final Batch batch;
    private final UnaryOperator<UnitOfWork> disguise;
    private final Consumer<Runnable> end;
    private final Map<UnitOfWork, UnitOfWork> realOf = new LinkedHashMap<>(); // units are equal only to themselves

    FlakyBatch(Batch batch, UnaryOperator<UnitOfWork> disguise, Consumer<Runnable> end) {
        this.batch = batch;
        this.disguise = disguise;
        this.end = end;
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
    public UnitOfWork begin(List<MarkerKey> keys, @Nullable String lane) {
        UnitOfWork real = batch.begin(keys, lane);
        UnitOfWork shown = disguise.apply(real);
        realOf.put(shown, real);
        return shown;
    }

    @Override
    public void giveUp(MarkerKey key) {
        batch.giveUp(key);
    }

    @Override
    public Map<UnitOfWork, Throwable> flush() {
        Map<UnitOfWork, Throwable> failed = batch.flush();
        Map<UnitOfWork, Throwable> shown = new LinkedHashMap<>();
        realOf.forEach((disguised, real) -> {
            Throwable failure = failed.get(real);
            if (failure != null) {
                shown.put(disguised, failure);
            }
        });
        return shown;
    }

    @Override
    public boolean forget(UnitOfWork unit) {
        return batch.forget(realOf.getOrDefault(unit, unit));
    }

    @Override
    public boolean usable() {
        return batch.usable();
    }

    @Override
    public void commit() {
        end.accept(batch::commit);
    }

    @Override
    public void close() {
        batch.close();
    }
}
