package dev.idem.jdbc;

import java.util.Collection;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a campaign did to its messages, from two facts alone: what was acknowledged, and the rows of the business table.
 *
 * @param lost acknowledged, but not applied
 * @param doubled applied more than once
 */
record KillVerdict(Set<String> lost, Set<String> doubled) {
    static KillVerdict of(Collection<String> acknowledged, Collection<String> effects) {
        TreeMap<String, Integer> counts = new TreeMap<>();
        effects.forEach(id -> counts.merge(id, 1, Integer::sum));
        Set<String> lost = new TreeSet<>(acknowledged);
        lost.removeAll(counts.keySet());
        counts.values().removeIf(count -> count == 1);
        return new KillVerdict(lost, Set.copyOf(counts.keySet()));
    }

    boolean isFlawless() {
        return lost.isEmpty() && doubled.isEmpty();
    }
}
