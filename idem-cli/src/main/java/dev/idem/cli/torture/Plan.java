package dev.idem.cli.torture;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
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
    private static final List<Mode> MODES = List.of(Mode.values());
    private static final int LANES_PER_MODE = 3;
    private static final int MESSAGES_PER_KEY = 60;
    private static final int DUPLICATE_PERCENT = 48;
    private static final int RECENT = 300;
    private static final int FLAKY_PERCENT = 3;
    private static final int PARKED_PER_MILLE = 2;

    /** What waits behind them is counted, which the queue does up to a limit only. */
    private static final int MOST_PARKED_IN_ORDER = 150;

    static Plan of(long seed, int messages) {
        var random = new Random(seed);
        int keys = Math.max(2, messages / MODES.size() / MESSAGES_PER_KEY);
        List<Item> items = new ArrayList<>(messages);
        List<List<Item>> lanes = new ArrayList<>();
        for (int i = 0; i < MODES.size() * LANES_PER_MODE; i++) {
            lanes.add(new ArrayList<>());
        }
        int parkedInOrder = 0;
        Map<String, Integer> sequences = new HashMap<>();
        for (int i = 0; i < messages; i++) {
            Mode mode = MODES.get(random.nextInt(MODES.size()));
            int key = mode.isOrdered() ? random.nextInt(keys) : 0;
            int seq = mode.isOrdered() ? sequences.merge(mode + "/" + key, 1, Integer::sum) : 0;
            Item.Nature nature = nature(random);
            if (nature.isParked() && mode.isOrdered() && ++parkedInOrder > MOST_PARKED_IN_ORDER) {
                nature = Item.Nature.PLAIN;
            }
            Item item = new Item(i, mode, key, seq, nature);
            items.add(item);
            // All of an ordering key go through one lane: a broker keeps order in a partition.
            lanes.get(lane(mode, mode.isOrdered() ? key : random.nextInt(LANES_PER_MODE)))
                    .add(item);
            if (random.nextInt(100) < DUPLICATE_PERCENT) {
                duplicate(random, mode, lanes);
            }
        }
        return new Plan(List.copyOf(items), lanes.stream().map(List::copyOf).toList(), blocked(items));
    }

    private static int lane(Mode mode, int number) {
        return MODES.indexOf(mode) * LANES_PER_MODE + number % LANES_PER_MODE;
    }

    private static Item.Nature nature(Random random) {
        if (random.nextInt(1000) < PARKED_PER_MILLE) {
            return random.nextBoolean() ? Item.Nature.POISON : Item.Nature.TERMINAL;
        }
        return random.nextInt(100) < FLAKY_PERCENT ? Item.Nature.FLAKY : Item.Nature.PLAIN;
    }

    /** Publishes a recent message again; in another lane, too, where no order is kept, so that both may run at once. */
    private static void duplicate(Random random, Mode mode, List<List<Item>> lanes) {
        List<Item> from = lanes.get(lane(mode, random.nextInt(LANES_PER_MODE)));
        if (!from.isEmpty()) {
            Item again = from.get(from.size() - 1 - random.nextInt(Math.min(RECENT, from.size())));
            (mode.isOrdered() ? from : lanes.get(lane(mode, random.nextInt(LANES_PER_MODE)))).add(again);
        }
    }

    private static Set<Item> blocked(List<Item> items) {
        Set<Item> blocked = new HashSet<>();
        Set<String> parkedKeys = new HashSet<>();
        for (Item item : items) {
            String key = item.mode() + "/" + item.key();
            if (item.mode().isOrdered() && parkedKeys.contains(key)) {
                blocked.add(item);
            } else if (item.nature().isParked()) {
                parkedKeys.add(key);
            }
        }
        return Set.copyOf(blocked);
    }

    /** Whether its effect must be there, once. */
    boolean hasEffect(Item item) {
        return !item.nature().isParked() && !blocked.contains(item);
    }

    /** How many must be parked in the end. */
    int parked() {
        return (int) items.stream()
                .filter(item -> item.nature().isParked() && !blocked.contains(item))
                .count();
    }
}
