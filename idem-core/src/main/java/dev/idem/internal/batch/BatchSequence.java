package dev.idem.internal.batch;

import dev.idem.Outcome;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.consumer.Order;
import dev.idem.internal.consumer.SequenceGuard;
import dev.idem.internal.consumer.SequencePlan;
import dev.idem.internal.key.Placement;
import dev.idem.internal.unit.InboxContext;
import dev.idem.spi.Batch;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.StreamVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The sequence guard in a batch's transaction. Messages are judged one after the other, right before they would run. That
 * one which is behind a failed version must not stay is {@link Order}'s business; so whatever is kept at the end is without
 * a gap, and its highest version is the stream's. Used by one thread.
 */
final class BatchSequence {
    private final Batch batch;
    private final @Nullable SequenceGuard guard;
    private final boolean queued;
    private final InboxContext context;
    private final Set<BatchEntry<?>> passed = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<BatchEntry<?>> repeated = new ArrayList<>();

    private BatchSequence(InboxContext context, Batch batch, @Nullable SequenceGuard guard, boolean queued) {
        this.context = context;
        this.batch = batch;
        this.guard = guard;
        this.queued = queued;
    }

    /** Locks the streams of all that were granted, if their consumer has a sequence. */
    static BatchSequence of(InboxContext context, Batch batch, List<BatchEntry<?>> granted) {
        ConsumerPlan consumer =
                granted.isEmpty() ? null : granted.get(0).attempt().consumer();
        if (consumer == null || !consumer.isSequenced()) {
            return new BatchSequence(context, batch, null, false);
        }
        SequencePlan sequence = consumer.sequence().orElseThrow();
        List<StreamVersion> places = new ArrayList<>(granted.size());
        Map<String, List<MarkerKey>> keys = new HashMap<>();
        for (BatchEntry<?> entry : granted) {
            if (sequence.place(entry.message()) instanceof Placement.At at) {
                places.add(at.place());
                keys.computeIfAbsent(at.place().stream(), stream -> new ArrayList<>())
                        .add(entry.key());
            }
        }
        SequenceGuard.Beginning inTime = stream -> context.inTime(
                keys.getOrDefault(stream, List.of(granted.get(0).key())),
                consumer.policy().handlerTimeout(),
                InboxContext.ending(batch),
                () -> sequence.before(stream));
        SequenceGuard guard = new SequenceGuard(inTime, batch.streams());
        guard.lock(places, Duration.ZERO);
        guard.locked().forEach(stream -> context.busyStreams().free(consumer.name(), stream));
        return new BatchSequence(context, batch, guard, consumer.isQueued());
    }

    /**
     * For one that is behind another. Without its stream's lock nobody may say that it waits: whoever has the lock may be
     * applying the version before it, and would not see that somebody waits for that.
     */
    void hold(BatchEntry<?> entry) {
        if (guard != null
                && placement(entry) instanceof Placement.At at
                && !guard.locked().contains(at.place().stream())) {
            putOff(entry, at.place().stream());
        } else {
            entry.hold();
        }
    }

    private void putOff(BatchEntry<?> entry, String stream) {
        entry.busyFor(context.busyStreams().pause(entry.attempt().consumer().name(), stream));
    }

    /** Whether a message must not run in this transaction; then it is given up, and settled if that is certain. */
    boolean stops(BatchEntry<?> entry) {
        if (guard == null || passed.contains(entry)) {
            return false;
        }
        boolean applies = judge(guard, entry);
        if (applies) {
            passed.add(entry);
        } else {
            batch.giveUp(entry.key());
        }
        return !applies;
    }

    private <T extends @Nullable Object> boolean judge(SequenceGuard guard, BatchEntry<T> entry) {
        Placement placement = placement(entry);
        if (placement instanceof Placement.None none) { // the selectors are not those any more that let it in
            entry.settle(none.rejected().outcome());
            return false;
        }
        StreamVersion place = ((Placement.At) placement).place();
        SequenceGuard.Verdict verdict = guard.judge(place);
        if (verdict instanceof SequenceGuard.Verdict.Stale stale) {
            entry.settle(new Outcome.Stale<>(stale.current()));
        } else if (verdict instanceof SequenceGuard.Verdict.Ahead ahead) {
            entry.settle(new Outcome.Held<>(OptionalLong.of(ahead.missing()), queued));
        } else if (verdict instanceof SequenceGuard.Verdict.Busy) {
            putOff(entry, place.stream());
        } else if (verdict instanceof SequenceGuard.Verdict.NoBeginning unknown) {
            Throwable cause = unknown.cause();
            context.throwIfFatal(cause);
            entry.fail(entry.attempt().policy().classify(cause), cause); // the lookup has no connection of ours
        } else if (verdict instanceof SequenceGuard.Verdict.Repeated) {
            repeated.add(entry);
        }
        return verdict instanceof SequenceGuard.Verdict.Apply;
    }

    /** Before the commit. */
    void move(List<BatchEntry<?>> kept) {
        if (guard != null) {
            guard.move(kept.stream().map(BatchSequence::place).toList());
        }
    }

    /**
     * After the commit: repetitions of versions that it has applied are stale. Others stay open, and are claimed again:
     * the message they repeat has failed.
     */
    void committed(List<BatchEntry<?>> kept) {
        if (repeated.isEmpty()) {
            return;
        }
        Map<String, Long> current = new HashMap<>();
        kept.forEach(entry -> current.merge(place(entry).stream(), place(entry).version(), Math::max));
        for (BatchEntry<?> entry : repeated) {
            @Nullable Long applied = current.get(place(entry).stream());
            if (applied != null && place(entry).version() <= applied) {
                entry.settle(new Outcome.Stale<>(applied));
            }
        }
    }

    private static Placement placement(BatchEntry<?> entry) {
        return entry.attempt().consumer().sequence().orElseThrow().place(entry.message());
    }

    private static StreamVersion place(BatchEntry<?> entry) {
        return ((Placement.At) placement(entry)).place();
    }
}
