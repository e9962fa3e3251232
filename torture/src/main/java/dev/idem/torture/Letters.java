package dev.idem.torture;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What became of the messages that never succeed, from the plan and from what stands in the place of dead letters alone.
 *
 * @param there letters, those that are there twice included
 * @param lost messages that the broker has confirmed, and that have no letter
 * @param astray letters of messages that should have their effect
 */
record Letters(int there, int lost, int astray) {
    static Letters of(Plan plan, Set<Item> accepted, List<Item> letters) {
        Set<Item> told = new HashSet<>(letters);
        int lost = (int) plan.items().stream()
                .filter(item -> item.nature().isParked() && accepted.contains(item) && !told.contains(item))
                .count();
        int astray = (int) told.stream().filter(plan::hasEffect).count();
        return new Letters(letters.size(), lost, astray);
    }
}
