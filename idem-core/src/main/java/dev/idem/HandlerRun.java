package dev.idem;

import dev.idem.spi.Batch;
import dev.idem.spi.HiddenCommitException;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.Step;
import dev.idem.spi.StoredResult;
import dev.idem.spi.Unit;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Runs handlers inside a batch's transaction, one after the other, each in a unit that can be undone alone. */
final class HandlerRun {
    private final Engine engine;
    private final Batch batch;
    private final Map<Unit, List<BatchEntry<?>>> kept;

    /** @param kept where the units go whose work is kept, with the entries they worked for */
    HandlerRun(Engine engine, Batch batch, Map<Unit, List<BatchEntry<?>>> kept) {
        this.engine = engine;
        this.batch = batch;
        this.kept = kept;
    }

    /** Runs a handler in a unit of its own. Null when what it wrote is kept; else why it was undone. */
    @Nullable
    Throwable run(List<BatchEntry<?>> entries, Body body, Result result) {
        BatchEntry<?> first = entries.get(0);
        Policy policy = first.attempt().policy();
        Duration limit = policy.handlerTimeout();
        Unit unit = batch.begin(
                entries.size() == 1
                        ? List.of(first.key())
                        : entries.stream().map(BatchEntry::key).toList(),
                first.message().orderingKey().orElse(null));
        Deadlines.Watch watch = watch(unit, limit);
        try {
            engine.steps().at(Step.BEFORE_HANDLER, first.key());
            body.run(unit);
            entries.forEach(
                    entry -> engine.outboxes().defer(unit, entry.attempt().published()));
            engine.steps().at(Step.AFTER_HANDLER, first.key());
        } catch (Throwable failure) {
            boolean late = watch.finish();
            undo(unit, failure, late);
            Failures.throwIfFatal(failure);
            if (!late && engine.store().isTransient(failure)) {
                throw new UndoneByStore(failure, entries);
            }
            return late ? engine.tooLate(first.key(), limit, failure) : failure;
        }
        if (watch.finish()) {
            HandlerTimeoutException late = engine.tooLate(first.key(), limit, null);
            undo(unit, late, true);
            return late;
        }
        return kept(entries, policy, unit, result);
    }

    private Deadlines.Watch watch(Unit unit, Duration limit) {
        try {
            return engine.deadlines().watch(unit, limit);
        } catch (StoreException closed) {
            unit.close(); // else this thread would keep it
            throw closed;
        }
    }

    private @Nullable Throwable kept(List<BatchEntry<?>> entries, Policy policy, Unit unit, Result result) {
        MarkerKey key = entries.get(0).key();
        try {
            unit.revoke();
            engine.unused().check(policy, key, unit);
            unit.commit(result.stored());
        } catch (BrokenTransactionException broken) {
            undo(unit, broken, false);
            return Failures.reported(engine.events(), key, broken);
        }
        kept.put(unit, entries);
        return null;
    }

    /** One that was late is being torn down on another thread; nobody may go on in that transaction meanwhile. */
    private void undo(Unit unit, Throwable failure, boolean late) {
        try {
            if (late) {
                unit.abandon();
            } else {
                unit.rollback();
            }
        } catch (HiddenCommitException | BrokenTransactionException whole) {
            Failures.suppress(whole, failure);
            throw whole;
        } catch (RuntimeException secondary) {
            Failures.suppress(failure, secondary); // the batch knows that it is not usable any more
        }
    }

    @FunctionalInterface
    interface Body {
        void run(Unit unit) throws Exception;
    }

    @FunctionalInterface
    interface Result {
        @Nullable
        StoredResult stored();
    }
}
