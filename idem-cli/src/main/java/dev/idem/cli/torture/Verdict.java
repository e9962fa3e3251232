package dev.idem.cli.torture;

import java.util.List;
import java.util.Set;

/**
 * What became of the messages, from three facts alone: the plan, what was acknowledged, and the rows of the business
 * tables.
 *
 * @param lost acknowledged, but without its effect
 * @param doubled with more effects than it should have; one that always fails should have none
 * @param outOfOrder effects that did not directly follow their predecessor's, or overtook a message that is parked
 */
record Verdict(int lost, int doubled, int outOfOrder) {
    /** @param previous the number in its key of the message whose effect came before, as the handler found it */
    record Effect(int number, int previous) {}

    static Verdict of(Plan plan, Set<Item> accepted, List<Effect> effects) {
        int[] counts = new int[plan.items().size()];
        int outOfOrder = 0;
        for (Effect effect : effects) {
            Item item = plan.items().get(effect.number);
            counts[effect.number]++;
            boolean overtook = plan.blocked().contains(item);
            outOfOrder += item.mode().isOrdered() && (overtook || effect.previous != item.seq() - 1) ? 1 : 0;
        }
        int lost = 0;
        int doubled = 0;
        for (Item item : plan.items()) {
            lost += plan.hasEffect(item) && accepted.contains(item) && counts[item.number()] == 0 ? 1 : 0;
            doubled += counts[item.number()] > (item.nature().isParked() ? 0 : 1) ? 1 : 0;
        }
        return new Verdict(lost, doubled, outOfOrder);
    }

    boolean isFlawless() {
        return lost == 0 && doubled == 0 && outOfOrder == 0;
    }
}
