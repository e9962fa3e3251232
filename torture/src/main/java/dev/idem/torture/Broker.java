package dev.idem.torture;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * At-least-once delivery, in memory. What a dead or silent worker left unacknowledged comes again, some acknowledgements
 * are lost, and some messages are delivered to two workers at once. Used by one thread.
 */
final class Broker {
    private static final int ACK_LOST_PERCENT = 3;
    private static final int TWIN_PERCENT = 5;
    private static final int MOST_AT_A_SLOT = 6;

    private final Plan plan;
    private final Random random;
    private final List<Lane> lanes = new ArrayList<>();
    private final Map<Long, Delivery> open = new HashMap<>();
    private final Map<Integer, Integer> atSlot = new HashMap<>();
    private final Set<Item> delivered = new HashSet<>();
    private final Set<Item> accepted = new HashSet<>();
    private long tags;
    private long deliveries;

    Broker(Plan plan, long seed) {
        this.plan = plan;
        random = new Random(seed);
        plan.lanes().forEach(lane -> lanes.add(new Lane(lane, random)));
    }

    boolean isDone() {
        return lanes.stream().allMatch(Lane::isDone);
    }

    /** What was acknowledged; the library has answered for it from then on. */
    Set<Item> accepted() {
        return accepted;
    }

    int unaccepted() {
        return plan.items().size() - accepted.size();
    }

    /** How many single messages were delivered. */
    long deliveries() {
        return deliveries;
    }

    /** How many of the deliveries repeated a message. */
    long duplicates() {
        return deliveries - delivered.size();
    }

    /** What to deliver now to the slots that listen. */
    List<Delivery> deliver(double share, List<Integer> slots, long now) {
        List<Delivery> sent = new ArrayList<>();
        for (Lane lane : lanes) {
            List<Integer> free = slots.stream()
                    .filter(slot -> atSlot.getOrDefault(slot, 0) < MOST_AT_A_SLOT)
                    .toList();
            List<Item> due = free.isEmpty() ? List.of() : lane.due(share, now);
            if (!due.isEmpty()) {
                int first = random.nextInt(free.size());
                sent.add(send(lane, due, free.get(first)));
                if (free.size() > 1 && random.nextInt(100) < TWIN_PERCENT) {
                    sent.add(send(lane, due, free.get((first + 1) % free.size())));
                }
            }
        }
        return sent;
    }

    private Delivery send(Lane lane, List<Item> items, int slot) {
        Delivery delivery = new Delivery(++tags, lane, slot, items);
        lane.delivered(delivery.tag);
        open.put(delivery.tag, delivery);
        atSlot.merge(slot, 1, Integer::sum);
        deliveries += items.size();
        delivered.addAll(items);
        return delivery;
    }

    /** Only an ACK is an acknowledgement. */
    void hear(Answer answer, long now) {
        Delivery delivery = open.remove(answer.tag());
        if (delivery == null) {
            return; // it was taken back, so the broker does not listen any more
        }
        atSlot.merge(delivery.slot, -1, Integer::sum);
        if (random.nextInt(100) < ACK_LOST_PERCENT) {
            delivery.lane.lost(delivery.tag, now);
            return;
        }
        BitSet acks = new BitSet();
        for (int i = 0; i < delivery.items.size(); i++) {
            acks.set(i, answer.acknowledged().get(i));
        }
        if (delivery.lane.answered(delivery.tag, acks, now)) {
            acks.stream().forEach(i -> accepted.add(delivery.items.get(i)));
        }
    }

    /** The worker in this slot is dead, or silent for too long. */
    void takeBack(int slot, long now) {
        open.values().removeIf(delivery -> {
            boolean lost = delivery.slot == slot;
            if (lost) {
                delivery.lane.lost(delivery.tag, now);
            }
            return lost;
        });
        atSlot.remove(slot);
    }

    /** Some messages on their way to a worker. */
    record Delivery(long tag, Lane lane, int slot, List<Item> items) {
        String line() {
            StringBuilder line = new StringBuilder().append(tag);
            items.forEach(item -> line.append(' ').append(item.line()));
            return line.toString();
        }
    }
}
