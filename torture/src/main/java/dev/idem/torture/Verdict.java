package dev.idem.torture;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What became of the messages, from three facts alone: the plan, what was acknowledged, and the rows of the business
 * tables.
 *
 * @param lost acknowledged, but without its effect, or the call that belongs to it
 * @param doubled with more effects than it should have; one that always fails should have none
 * @param calledTwice calls that a provider saw twice: under another key, or without a person's word where it knows no keys
 * @param outOfOrder effects that did not directly follow their predecessor's, or overtook a message that is parked
 */
record Verdict(int lost, int doubled, int calledTwice, int outOfOrder) {
    /** @param previous the number in its key of the message whose effect came before, as the handler found it */
    record Effect(int number, int previous) {}

    /** @param fence of the run that has called */
    record Call(int number, String key, long fence) {}

    /**
     * What is in the tables.
     *
     * @param stored messages of raced keys, in the order of their numbers in the queue
     */
    record Facts(List<Effect> effects, List<Call> calls, List<Integer> stored) {}

    static Verdict of(Plan plan, Set<Item> accepted, Set<Integer> changed, Facts facts) {
        int[] counts = new int[plan.items().size()];
        int outOfOrder = 0;
        Map<Integer, Integer> raced = predecessors(plan, facts.stored);
        for (Effect effect : facts.effects) {
            Item item = plan.items().get(effect.number);
            counts[effect.number]++;
            boolean overtook = plan.blocked().contains(item);
            int before = item.isRaced() ? raced.getOrDefault(item.number(), -1) : item.seq() - 1;
            outOfOrder += item.mode().isOrdered() && (overtook || effect.previous != before) ? 1 : 0;
        }
        Map<Integer, List<Call>> calls = facts.calls.stream().collect(Collectors.groupingBy(Call::number));
        int lost = 0;
        int doubled = 0;
        for (Item item : plan.items()) {
            boolean uncalled = item.mode().isInSteps()
                    && item.nature() != Item.Nature.CHANGED
                    && !calls.containsKey(item.number());
            boolean none = counts[item.number()] == 0 || uncalled;
            boolean wanted = plan.hasEffect(item) && !changed.contains(item.number());
            lost += wanted && accepted.contains(item) && none ? 1 : 0;
            doubled += counts[item.number()] > (item.nature().isParked() ? 0 : 1) ? 1 : 0;
        }
        int calledTwice = (int) calls.entrySet().stream()
                .filter(made -> isTooMuch(plan.items().get(made.getKey()), made.getValue()))
                .count();
        return new Verdict(lost, doubled, calledTwice, outOfOrder);
    }

    /** A provider that knows keys may be called again by another run, with the same key. */
    private static boolean isTooMuch(Item item, List<Call> calls) {
        boolean otherKey = calls.stream().map(Call::key).distinct().count() > 1;
        boolean sameRun = calls.stream().map(Call::fence).distinct().count() < calls.size();
        return otherKey || sameRun || (item.parksWhenUnknown() && calls.size() > 1);
    }

    /** The place in its key of the one that was stored before, for each message of a raced key. */
    private static Map<Integer, Integer> predecessors(Plan plan, List<Integer> stored) {
        Map<Integer, Integer> before = new HashMap<>();
        Map<String, Integer> last = new HashMap<>();
        for (int number : stored) {
            Item item = plan.items().get(number);
            Integer previous = last.put(item.mode() + "/" + item.key(), item.seq());
            before.putIfAbsent(number, previous == null ? 0 : previous);
        }
        return before;
    }

    boolean isFlawless() {
        return lost == 0 && doubled == 0 && calledTwice == 0 && outOfOrder == 0;
    }
}
