package dev.idem.torture;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** Draws a {@link Plan}. Used once. */
final class Planning {
    private static final int MESSAGES_PER_KEY = 60;
    private static final int DUPLICATE_PERCENT = 48;
    private static final int RECENT = 300;
    private static final int FLAKY_PERCENT = 3;
    private static final int UNRULY_PER_MILLE = 6;
    private static final int CHANGED_PERCENT = 1;

    /** So many large messages wait when the workers begin: more than their memory holds. */
    private static final int BACKLOG = 60;

    private static final Item.Nature[] UNRULY = {
        Item.Nature.STUBBORN,
        Item.Nature.ERROR,
        Item.Nature.ERROR,
        Item.Nature.INTERRUPTING,
        Item.Nature.INTERRUPTING,
        Item.Nature.LARGE
    };

    /** What waits behind them is counted, which the queue does up to a limit only. */
    private static final int MOST_PARKED_IN_ORDER = 150;

    private final Random random;
    private final List<Mode> modes;
    private final int lanesPerMode;
    private final int parkedPerMille;
    private final boolean queued;
    private final List<List<Item>> lanes = new ArrayList<>();
    private final Map<String, Integer> sequences = new HashMap<>();

    Planning(long seed, List<Mode> modes, int lanesPerMode, int parkedPerMille) {
        random = new Random(seed);
        this.modes = modes;
        this.lanesPerMode = lanesPerMode;
        this.parkedPerMille = parkedPerMille;
        queued = Mode.QUEUED.containsAll(modes);
        for (int i = 0; i < modes.size() * lanesPerMode; i++) {
            lanes.add(new ArrayList<>());
        }
    }

    Plan plan(int messages) {
        int keys = Math.max(2, messages / modes.size() / MESSAGES_PER_KEY);
        List<Item> items = new ArrayList<>(messages);
        int parkedInOrder = 0;
        for (int i = 0; i < messages; i++) {
            Mode mode = modes.get(random.nextInt(modes.size()));
            int key = mode.isOrdered() ? random.nextInt(keys) : 0;
            Item.Nature nature = nature();
            boolean raced = new Item(i, mode, key, 0, nature).isRaced();
            boolean inQueue = queued && nature.isParked() && mode.isOrdered();
            if (inQueue && (raced || ++parkedInOrder > MOST_PARKED_IN_ORDER)) {
                nature = Item.Nature.PLAIN;
            }
            if (raced && nature == Item.Nature.LARGE) {
                nature = Item.Nature.PLAIN;
            }
            if (mode.isInSteps() && random.nextInt(100) < CHANGED_PERCENT) {
                nature = Item.Nature.CHANGED;
            }
            if (mode == Mode.LOCAL && random.nextInt(messages) < BACKLOG * modes.size()) {
                nature = Item.Nature.LARGE;
            }
            Item item = new Item(i, mode, key, seq(mode, key, nature), nature);
            items.add(item);
            // A broker keeps order in a partition, so an ordering key has one lane; but some are published anywhere.
            lane(mode, mode.isOrdered() && !raced ? key : random.nextInt(lanesPerMode))
                    .add(item);
            if (random.nextInt(100) < DUPLICATE_PERCENT) {
                duplicate(mode);
            }
        }
        return new Plan(
                List.copyOf(items), lanes.stream().map(List::copyOf).toList(), queued ? blocked(items) : Set.of());
    }

    /** Without a queue, those behind a message that is set aside go on as if it had never been there. */
    private int seq(Mode mode, int key, Item.Nature nature) {
        if (!mode.isOrdered()) {
            return 0;
        }
        String line = mode + "/" + key;
        return nature.isParked() && !queued
                ? Math.max(1, sequences.getOrDefault(line, 0))
                : sequences.merge(line, 1, Integer::sum);
    }

    private List<Item> lane(Mode mode, int number) {
        return lanes.get(modes.indexOf(mode) * lanesPerMode + number % lanesPerMode);
    }

    private Item.Nature nature() {
        if (random.nextInt(1000) < parkedPerMille) {
            return random.nextBoolean() ? Item.Nature.POISON : Item.Nature.TERMINAL;
        }
        if (queued && random.nextInt(1000) < UNRULY_PER_MILLE) {
            return UNRULY[random.nextInt(UNRULY.length)];
        }
        return random.nextInt(100) < FLAKY_PERCENT ? Item.Nature.FLAKY : Item.Nature.PLAIN;
    }

    /** Publishes a recent message again; in another lane, too, where no order is kept, so that both may run at once. */
    private void duplicate(Mode mode) {
        List<Item> from = lane(mode, random.nextInt(lanesPerMode));
        if (!from.isEmpty()) {
            Item again = from.get(from.size() - 1 - random.nextInt(Math.min(RECENT, from.size())));
            (mode.isOrdered() ? from : lane(mode, random.nextInt(lanesPerMode))).add(again);
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
}
