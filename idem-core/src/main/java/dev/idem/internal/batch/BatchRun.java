package dev.idem.internal.batch;

import dev.idem.Failure;
import dev.idem.Outcome;
import dev.idem.Route;
import dev.idem.internal.consumer.Undecodable;
import dev.idem.internal.unit.Horizon;
import dev.idem.internal.unit.InboxContext;
import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.FaultPoint;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.TransientStoreException;
import dev.idem.spi.UnitOfWork;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One transaction of a batch: the handlers in the order of delivery, each in a unit that can be undone alone; then the
 * deferred statements; then the commit. Entries that have failed are settled and given up. Returns early when the
 * transaction is lost; then the entries that are still open need another one. Owns the batch, and closes it.
 */
public final class BatchRun implements AutoCloseable {
    private final InboxContext context;
    private final Batch batch;
    private final Horizon horizon;
    private final Map<UnitOfWork, List<BatchEntry<?>>> units = new LinkedHashMap<>();
    private final HandlerRun handler;
    private final Recording recording;
    private BatchSequence sequence;
    private boolean interrupted;

    BatchRun(InboxContext context, Batch batch, Recording recording) {
        this.context = context;
        this.batch = batch;
        this.recording = recording;
        this.sequence = BatchSequence.of(context, batch, List.of());
        this.horizon = new Horizon(context.events());
        this.handler = new HandlerRun(context, batch, units);
    }

    void run(List<BatchEntry<?>> open) {
        List<BatchEntry<?>> granted = judged(open);
        sequence = BatchSequence.of(context, batch, granted);
        int next = 0;
        while (next < granted.size()
                && batch.usable()
                && (next == 0 || !batch.full())
                && context.rescue().begins()) {
            List<BatchEntry<?>> neighbours = neighbours(granted, next);
            next += neighbours.size();
            if (recording.begins(neighbours)) {
                handle(neighbours);
            } else {
                neighbours.forEach(this::leaveToOthers);
            }
        }
        List<BatchEntry<?>> rest = granted.subList(next, granted.size());
        if (!context.rescue().begins()) {
            rest.forEach(this::leaveToOthers);
        } else if (!rest.isEmpty() && batch.full()) {
            leave(rest, next);
        }
        noteInterrupt();
        if (batch.usable() && flushed()) {
            commit(granted);
        }
    }

    /** The rest stays open, for another transaction. */
    private void leave(List<BatchEntry<?>> rest, int handled) {
        context.isolation().full(rest.get(0).attempt().consumer().name(), handled);
        rest.forEach(entry -> batch.giveUp(entry.key()));
    }

    /** This worker begins nothing more. */
    private void leaveToOthers(BatchEntry<?> entry) {
        batch.giveUp(entry.key());
        entry.settle(new Outcome.Busy<>());
    }

    /** One that a handler has left behind on a worker's thread is nobody's request to stop. */
    private void noteInterrupt() {
        boolean found = Thread.interrupted();
        interrupted |= found && !(context.isWorker() && context.rescue().goesOn());
    }

    /** Some databases run in this thread and lose their files to an interrupt, so it waits until the transaction ends. */
    @Override
    public void close() {
        try {
            batch.close();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private List<BatchEntry<?>> judged(List<BatchEntry<?>> open) {
        Map<MarkerKey, Claim> refused = batch.refused();
        List<BatchEntry<?>> granted = new ArrayList<>(open.size());
        for (BatchEntry<?> entry : open) {
            Claim claim = refused.isEmpty() ? null : refused.get(entry.key());
            if (claim instanceof Claim.Taken taken) {
                entry.taken(taken.marker());
            } else if (claim instanceof Claim.Forgotten forgotten) {
                settleForgotten(entry, forgotten);
            } else if (claim instanceof Claim.Unforeseen unforeseen) {
                settleUnforeseen(entry, unforeseen);
            } else if (claim instanceof Claim.Unplaced unplaced) {
                entry.fail(Failure.INFRASTRUCTURE, unplaced.reason());
            } else if (claim != null) {
                entry.settle(new Outcome.Busy<>());
            } else {
                entry.granted(batch);
                if (!isTooOld(entry)) {
                    granted.add(entry);
                }
            }
        }
        return granted;
    }

    private static <T extends @Nullable Object> void settleUnforeseen(
            BatchEntry<T> entry, Claim.Unforeseen unforeseen) {
        entry.settle(Horizon.unforeseen(entry.attempt(), entry.key(), unforeseen.latest()));
    }

    private static <T extends @Nullable Object> void settleForgotten(BatchEntry<T> entry, Claim.Forgotten forgotten) {
        entry.settle(Horizon.forgotten(entry.attempt(), entry.key(), forgotten.horizon()));
    }

    private <T extends @Nullable Object> boolean isTooOld(BatchEntry<T> entry) {
        Optional<Outcome<T>> tooOld =
                horizon.judge(entry.attempt(), entry.key(), made -> batch.horizon(entry.key(), made));
        tooOld.ifPresent(outcome -> {
            batch.giveUp(entry.key());
            entry.settle(outcome);
        });
        return tooOld.isPresent();
    }

    /** As many as go to one call of the same batch handler, or one. */
    private static List<BatchEntry<?>> neighbours(List<BatchEntry<?>> entries, int from) {
        int to = from + 1;
        if (entries.get(from).route() instanceof Route.Together) {
            while (to < entries.size()
                    && entries.get(to).route() == entries.get(from).route()) {
                to++;
            }
        }
        return entries.subList(from, to);
    }

    private void handle(List<BatchEntry<?>> neighbours) {
        noteInterrupt();
        List<BatchEntry<?>> ready = new ArrayList<>(neighbours.size());
        for (BatchEntry<?> entry : neighbours) {
            if (entry.isBehind()) {
                batch.giveUp(entry.key());
                sequence.hold(entry);
            } else if (interrupted) {
                giveUp(entry, new InterruptedException("Interrupted before the handler of " + entry.key()));
            } else if (!sequence.stops(entry)) {
                ready.add(entry);
            }
        }
        if (ready.isEmpty()) {
            return;
        }
        if (ready.get(0).route() instanceof Route.Together<?> together) {
            handleTogether(together, ready);
        } else {
            BatchEntry<?> one = ready.get(0);
            Throwable failure = handler.run(ready, unit -> one.run(unit, context.store()), one::stored);
            if (failure != null) {
                giveUp(one, failure);
            }
        }
    }

    private <E> void handleTogether(Route.Together<E> route, List<BatchEntry<?>> entries) {
        TogetherCall<E> call = TogetherCall.of(context, batch, route, entries);
        call.undecodable().forEach(this::giveUp);
        if (call.entries().stream().anyMatch(BatchEntry::isBehind)) {
            handle(call.entries()); // one that could not be decoded now comes again, so those behind it must not run
        } else if (!call.entries().isEmpty()) {
            runTogether(call);
        }
    }

    private void runTogether(TogetherCall<?> call) {
        Throwable failure = handler.run(call.entries(), unit -> run(call, unit), () -> null);
        List<BatchEntry<?>> rest =
                call.entries().stream().filter(BatchEntry::isOpen).toList();
        if (failure == null) {
            return;
        }
        if (failure instanceof Overtaken) {
            if (batch.usable()) {
                handleIfBegins(rest);
            }
        } else if (rest.size() == 1) {
            giveUp(rest.get(0), failure);
        } else if (batch.usable()) {
            // Nobody knows whose fault it is. What was written is undone, so the halves can be tried.
            handleIfBegins(rest.subList(0, rest.size() / 2));
            if (batch.usable()) {
                handleIfBegins(rest.subList(rest.size() / 2, rest.size()));
            }
        } else {
            throw new Inseparable(failure);
        }
    }

    private void handleIfBegins(List<BatchEntry<?>> entries) {
        if (context.rescue().begins()) {
            handle(entries);
        } else {
            entries.forEach(this::leaveToOthers);
        }
    }

    /** The handler may fail single messages. Then nothing may stay of those that would overtake them. */
    private void run(TogetherCall<?> call, UnitOfWork unit) throws Exception {
        call.run(unit);
        call.failed().forEach((entry, failure) -> {
            entry.attempt().failed(failure, unit);
            giveUp(entry, failure);
        });
        boolean none = call.entries().stream().noneMatch(BatchEntry::isKept);
        if (none || call.entries().stream().anyMatch(entry -> entry.isKept() && entry.isBehind())) {
            throw new Overtaken();
        }
    }

    private void giveUp(BatchEntry<?> entry, Throwable failure) {
        batch.giveUp(entry.key());
        interrupted |= failure instanceof InterruptedException
                && !(context.isWorker() && context.rescue().goesOn());
        if (failure instanceof Undecodable undecodable) {
            entry.settle(undecodable.outcome());
        } else {
            entry.fail(context.kindOf(failure, entry.attempt()), failure);
        }
    }

    /** Sends the deferred statements. False when the guilty cannot be undone alone: then the others begin anew. */
    private boolean flushed() {
        boolean separable = true;
        Map<UnitOfWork, Throwable> failed = sent();
        while (separable && !failed.isEmpty()) {
            failed.forEach((unit, failure) -> entriesOf(unit).forEach(entry -> giveUp(entry, failure)));
            for (UnitOfWork unit : List.copyOf(units.keySet())) {
                separable &= withoutThoseBehind(unit);
            }
            failed = separable ? sent() : failed;
        }
        return separable;
    }

    private Map<UnitOfWork, Throwable> sent() {
        return units.isEmpty() ? Map.of() : handler.inTime(kept(), batch::flush);
    }

    private List<BatchEntry<?>> kept() {
        return units.values().stream().flatMap(List::stream).toList();
    }

    /** Holds those that would overtake. False when what they wrote cannot be undone alone. */
    private boolean withoutThoseBehind(UnitOfWork unit) {
        boolean held = holdThoseBehind(entriesOf(unit));
        if (entriesOf(unit).stream().anyMatch(BatchEntry::isKept)) {
            return !held; // they share the unit with others, whose work is kept
        }
        units.remove(unit);
        return batch.forget(unit);
    }

    private List<BatchEntry<?>> entriesOf(UnitOfWork unit) {
        return units.getOrDefault(unit, List.of());
    }

    private boolean holdThoseBehind(List<BatchEntry<?>> entries) {
        boolean held = false;
        for (BatchEntry<?> entry : entries) {
            if (entry.isKept() && entry.isBehind()) {
                batch.giveUp(entry.key());
                entry.hold();
                held = true;
            }
        }
        return held;
    }

    private void commit(List<BatchEntry<?>> granted) {
        List<BatchEntry<?>> kept = granted.stream().filter(BatchEntry::isKept).toList();
        boolean recorded = recording.record(batch, granted);
        if (kept.isEmpty() && !recorded) {
            return; // closing the batch rolls it back
        }
        sequence.move(kept);
        MarkerKey first = granted.get(0).key();
        kept.forEach(BatchEntry::committing);
        context.steps().at(FaultPoint.BEFORE_COMMIT, first);
        try {
            batch.commit();
        } catch (TransientStoreException undone) {
            throw new UndoneBatch(undone, kept);
        }
        context.steps().at(FaultPoint.AFTER_COMMIT, first);
        recording.committed();
        kept.forEach(BatchEntry::processed);
        sequence.committed(kept);
    }

    /** What is written of messages that were not kept, in the transaction of those that were. */
    public interface Recording {
        /** Whether the handler of these may begin; false when somebody else has them by now. */
        default boolean begins(List<BatchEntry<?>> entries) {
            return true;
        }

        /** True when there is something to commit, even if no message was kept. */
        boolean record(Batch batch, List<BatchEntry<?>> granted);

        /** What was recorded last is durable. */
        void committed();
    }

    /** At the door nothing is written of messages that were not kept: they come again. */
    record NoRecording() implements Recording {
        @Override
        public boolean record(Batch batch, List<BatchEntry<?>> granted) {
            return false;
        }

        @Override
        public void committed() {}
    }

    /** Undoes a call of a batch handler, which is then made again without those that have failed. */
    private static final class Overtaken extends Exception {
        private static final long serialVersionUID = 1L;
    }
}
