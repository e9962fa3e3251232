package dev.idem.torture;

import java.util.List;
import java.util.Set;

/**
 * What is published, made from a seed: the same seed and number give the same messages, the same duplicates and the same
 * failures.
 *
 * @param items all messages
 * @param lanes what is published in each lane, in this order; a message comes once or, as a duplicate, more often
 * @param blocked messages of ordered modes that come behind one that is parked, so that they must wait for ever
 */
record Plan(List<Item> items, List<List<Item>> lanes, Set<Item> blocked) {
    private static final int QUEUED_LANES = 3;
    private static final int PARKED_PER_MILLE = 2;
    private static final int SET_ASIDE_PER_MILLE = 5;

    /** For every kind of queued consumer. */
    static Plan of(long seed, int messages) {
        return new Planning(seed, Mode.QUEUED, QUEUED_LANES, PARKED_PER_MILLE).plan(messages);
    }

    /**
     * For a consumer without a queue.
     *
     * @param poison whether some messages never succeed, so that they are set aside
     */
    static Plan inline(long seed, int messages, boolean ordered, int lanes, boolean poison) {
        Mode mode = ordered ? Mode.INLINE_ORDERED : Mode.INLINE;
        return new Planning(seed, List.of(mode), lanes, poison ? SET_ASIDE_PER_MILLE : 0).plan(messages);
    }

    /** How many times something is published. */
    int publications() {
        return lanes.stream().mapToInt(List::size).sum();
    }

    /** Whether its effect must be there, once. */
    boolean hasEffect(Item item) {
        return !item.nature().isParked() && !blocked.contains(item);
    }

    /** Large messages that wait when the workers begin. */
    List<Item> backlog() {
        return items.stream()
                .filter(item -> item.mode() == Mode.LOCAL && item.nature() == Item.Nature.LARGE)
                .toList();
    }

    /** How many effects there must be in the end. */
    long effects() {
        return items.stream().filter(this::hasEffect).count();
    }

    /** How many must be parked or set aside in the end. */
    int parked() {
        return (int) items.stream()
                .filter(item -> item.nature().isParked() && !blocked.contains(item))
                .count();
    }
}
