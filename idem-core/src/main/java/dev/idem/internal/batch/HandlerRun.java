package dev.idem.internal.batch;

import dev.idem.BrokenTransactionException;
import dev.idem.HandlerTimeoutException;
import dev.idem.Policy;
import dev.idem.StoreException;
import dev.idem.internal.unit.Deadlines;
import dev.idem.internal.unit.Failures;
import dev.idem.internal.unit.InboxContext;
import dev.idem.spi.Batch;
import dev.idem.spi.FaultPoint;
import dev.idem.spi.HiddenCommitException;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StoredResult;
import dev.idem.spi.TransientStoreException;
import dev.idem.spi.UnitOfWork;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs handlers inside a batch's transaction, one after the other, each in a unit that can be undone alone. */
final class HandlerRun {
    private final InboxContext context;
    private final Batch batch;
    private final Map<UnitOfWork, List<BatchEntry<?>>> kept;

    /** @param kept where the units go whose work is kept, with the entries they worked for */
    HandlerRun(InboxContext context, Batch batch, Map<UnitOfWork, List<BatchEntry<?>>> kept) {
        this.context = context;
        this.batch = batch;
        this.kept = kept;
    }

    /** Runs a handler in a unit of its own. Null when what it wrote is kept; else why it was undone. */
    @Nullable
    Throwable run(List<BatchEntry<?>> entries, Body body, Result result) {
        BatchEntry<?> first = entries.get(0);
        Policy policy = first.attempt().policy();
        Duration limit = policy.handlerTimeout();
        UnitOfWork unit = batch.begin(
                entries.size() == 1
                        ? List.of(first.key())
                        : entries.stream().map(BatchEntry::key).toList(),
                first.message().orderingKey().orElse(null));
        Deadlines.Watch watch = watch(unit, limit, entries);
        try {
            context.steps().at(FaultPoint.BEFORE_HANDLER, first.key());
            body.run(unit);
            entries.forEach(
                    entry -> context.outboxes().defer(unit, entry.attempt().published()));
            context.steps().at(FaultPoint.AFTER_HANDLER, first.key());
        } catch (Throwable failure) {
            boolean late = watch.finish();
            entries.forEach(entry -> entry.attempt().failed(failure, unit));
            undo(unit, failure, late);
            context.throwIfFatal(failure);
            if (!late
                    && context.store().isTransient(failure)
                    && !first.attempt().isOfHandler(failure)) {
                throw new UndoneBatch(failure, suspects(failure, entries));
            }
            return late ? context.tooLate(first.key(), limit, failure) : failure;
        }
        if (watch.finish()) {
            HandlerTimeoutException late = context.tooLate(first.key(), limit, null);
            undo(unit, late, true);
            return late;
        }
        return kept(entries, policy, unit, result);
    }

    /**
     * A lost connection is met by whoever sends something next, and may be the doing of any that ran before in the same
     * transaction: by a long pause at its end, say.
     */
    private List<BatchEntry<?>> suspects(Throwable failure, List<BatchEntry<?>> entries) {
        List<BatchEntry<?>> suspects = new ArrayList<>(entries);
        if (context.store().isConnectionLost(failure)) {
            kept.values().forEach(suspects::addAll);
        }
        return suspects;
    }

    private Deadlines.Watch watch(UnitOfWork unit, Duration limit, List<BatchEntry<?>> entries) {
        try {
            return context.watch(unit, entries.stream().map(BatchEntry::key).toList(), limit, batch::close);
        } catch (StoreException closed) {
            unit.close(); // else this thread would keep it
            throw closed;
        }
    }

    private @Nullable Throwable kept(List<BatchEntry<?>> entries, Policy policy, UnitOfWork unit, Result result) {
        MarkerKey key = entries.get(0).key();
        try {
            unit.revoke();
            boolean said = entries.stream().anyMatch(entry -> entry.attempt().saysOutputs());
            context.unused().check(policy, key, unit.used() || said);
            unit.commit(result.stored());
        } catch (BrokenTransactionException broken) {
            undo(unit, broken, false);
            return Failures.reported(context.events(), key, broken);
        }
        kept.put(unit, entries);
        return null;
    }

    /**
     * What is done for several messages at once, when their handlers have returned, has the time of one handler. When that is
     * over, nobody knows whose statement waits.
     */
    <T> T inTime(List<BatchEntry<?>> entries, Supplier<T> work) {
        BatchEntry<?> first = entries.get(0);
        Duration limit = first.attempt().policy().handlerTimeout();
        List<MarkerKey> keys = entries.stream().map(BatchEntry::key).toList();
        Thread thread = Thread.currentThread();
        Deadlines.Watch watch = context.deadlines()
                .watch(() -> true, batch::abandon, limit, () -> context.stuck(keys, limit, thread, batch::close));
        T done;
        try {
            done = work.get();
        } catch (RuntimeException failure) {
            if (watch.finish()) {
                throw new Inseparable(context.tooLate(first.key(), limit, failure));
            }
            throw failure instanceof TransientStoreException ? new UndoneBatch(failure, entries) : failure;
        } finally {
            watch.finish();
        }
        if (watch.finish()) {
            throw new Inseparable(context.tooLate(first.key(), limit, null));
        }
        return done;
    }

    /** One that was late is being torn down on another thread; nobody may go on in that transaction meanwhile. */
    private void undo(UnitOfWork unit, Throwable failure, boolean late) {
        try {
            if (late) {
                unit.abandon();
            }
            unit.rollback(); // of a late one only to learn whether it had committed before
        } catch (HiddenCommitException | BrokenTransactionException whole) {
            Failures.suppress(whole, failure);
            throw whole;
        } catch (RuntimeException secondary) {
            Failures.suppress(failure, secondary); // the batch knows that it is not usable any more
        }
    }

    @FunctionalInterface
    interface Body {
        void run(UnitOfWork unit) throws Exception;
    }

    @FunctionalInterface
    interface Result {
        @Nullable
        StoredResult stored();
    }
}
