package dev.idem.torture;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * A partition of the broker: delivers in order, some messages at once, and nothing more before all of these are
 * acknowledged. What is not acknowledged comes again. Used by one thread.
 */
final class Lane {
    private static final int LARGEST = 120;
    private static final long AGAIN_NANOS = 20_000_000;

    private final List<Item> publications;
    private final Random random;
    private final Set<Long> live = new LinkedHashSet<>();
    private List<Item> pending = new ArrayList<>();
    private BitSet acknowledged = new BitSet();
    private int next;
    private long notBefore;

    Lane(List<Item> publications, Random random) {
        this.publications = publications;
        this.random = random;
    }

    boolean isDone() {
        return next == publications.size() && pending.isEmpty();
    }

    /**
     * What is to be delivered now; empty if there is nothing, or something is on its way.
     *
     * @param share how much of the stream is published by now, from 0 to 1
     */
    List<Item> due(double share, long now) {
        if (!live.isEmpty() || now - notBefore < 0) {
            return List.of();
        }
        if (pending.isEmpty()) {
            int most = Math.min(publications.size(), (int) Math.ceil(publications.size() * share));
            int end = Math.min(most, next + 1 + random.nextInt(LARGEST));
            pending = new ArrayList<>(publications.subList(next, Math.max(next, end)));
            next += pending.size();
            acknowledged = new BitSet();
        }
        return List.copyOf(pending);
    }

    void delivered(long tag) {
        live.add(tag);
    }

    /** Nobody will answer this delivery any more, or nobody listens. */
    void lost(long tag, long now) {
        if (live.remove(tag)) {
            notBefore = now + AGAIN_NANOS;
        }
    }

    /** Hears which of the messages delivered with this tag are acknowledged. False if it comes too late. */
    boolean answered(long tag, BitSet acks, long now) {
        if (!live.remove(tag)) {
            return false;
        }
        acknowledged.or(acks); // what is pending stays as it is while a delivery is on its way
        if (acknowledged.cardinality() == pending.size()) {
            pending.clear();
            live.clear(); // a twin of this delivery may still run; it can only find duplicates
        } else if (live.isEmpty()) {
            withoutAcknowledged();
            notBefore = now + AGAIN_NANOS;
        }
        return true;
    }

    private void withoutAcknowledged() {
        List<Item> rest = new ArrayList<>();
        for (int i = 0; i < pending.size(); i++) {
            if (!acknowledged.get(i)) {
                rest.add(pending.get(i));
            }
        }
        pending = rest;
        acknowledged = new BitSet();
    }
}
