package dev.idem.jdbc;

import dev.idem.steps.EffectAnswer;
import dev.idem.steps.EffectKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Somebody outside who charges cards: counts by key, and may recognise keys and refuse old fences. Thread-safe. */
final class FakeProvider {
    private final boolean recognisesKeys;
    private final Map<String, Integer> charged = new HashMap<>();
    private final Map<String, Long> newest = new HashMap<>();
    private final List<EffectKey> calls = new ArrayList<>();
    private boolean refusesOldFences;

    FakeProvider(boolean recognisesKeys) {
        this.recognisesKeys = recognisesKeys;
    }

    synchronized FakeProvider refusingOldFences() {
        refusesOldFences = true;
        return this;
    }

    synchronized String charge(EffectKey key) {
        calls.add(key);
        long seen = newest.merge(key.value(), key.fence(), Math::max);
        if (refusesOldFences && key.fence() < seen) {
            throw new IllegalStateException("fence " + key.fence() + " is older than " + seen);
        }
        if (!recognisesKeys || !charged.containsKey(key.value())) {
            charged.merge(key.value(), 1, Integer::sum);
        }
        return receipt(key);
    }

    static String receipt(EffectKey key) {
        return "receipt of " + key.value();
    }

    synchronized EffectAnswer<String> ask(EffectKey key) {
        return charged.containsKey(key.value()) ? EffectAnswer.done(receipt(key)) : EffectAnswer.notDone();
    }

    /** How often cards were really charged. */
    synchronized int charges() {
        return charged.values().stream().mapToInt(n -> n).sum();
    }

    synchronized int keys() {
        return (int) calls.stream().map(EffectKey::value).distinct().count();
    }

    synchronized List<EffectKey> calls() {
        return List.copyOf(calls);
    }
}
