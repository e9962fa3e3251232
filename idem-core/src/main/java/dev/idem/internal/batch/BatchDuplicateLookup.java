package dev.idem.internal.batch;

import dev.idem.Outcome.Duplicate.State;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.internal.unit.DuplicateLookup;
import dev.idem.spi.MarkerKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Finds out what became of the duplicates of a batch, where their markers do not tell; see {@link DuplicateLookup}. */
final class BatchDuplicateLookup {
    private final DuplicateLookup whereabouts;

    BatchDuplicateLookup(DuplicateLookup whereabouts) {
        this.whereabouts = whereabouts;
    }

    void lookFor(List<BatchEntry<?>> entries) {
        List<MarkerKey> duplicates = new ArrayList<>();
        for (BatchEntry<?> entry : entries) {
            if (isUncertain(entry)) {
                duplicates.add(entry.key());
            }
        }
        if (duplicates.isEmpty()) {
            return;
        }
        ConsumerPlan consumer = entries.get(0).attempt().consumer();
        Map<MarkerKey, State> found = whereabouts.look(consumer, duplicates);
        for (BatchEntry<?> entry : entries) {
            State state = isUncertain(entry) ? found.get(entry.key()) : null;
            if (state != null) {
                known(entry, state);
            }
        }
    }

    private boolean isUncertain(BatchEntry<?> entry) {
        return whereabouts.isUncertain(entry.attempt().consumer(), entry.outcome());
    }

    private static <T extends @Nullable Object> void known(BatchEntry<T> entry, State state) {
        entry.known(DuplicateLookup.in(state, entry.outcome()));
    }
}
