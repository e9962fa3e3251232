package dev.idem.bench.load;

import dev.idem.bench.contender.Contender;
import dev.idem.bench.contender.Delivery;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;

/**
 * The deliveries of one partition, as one thread polls them. A duplicate repeats one of the last thousand messages of the
 * same partition that were polled before, so no two threads ever hold the same message. Not thread-safe.
 */
final class Feed {
    private static final int MEMORY = 1_000;
    private static final int HISTORY = 100;
    private static final int CENTS = 4_200;
    private static final long VERSION_4 = 0x4000L;
    private static final long VERSION_7 = 0x7000L;

    private final Workload workload;
    private final int size;
    private final int failing;
    private final int partition;
    private final SplittableRandom random;
    private final List<Delivery> recent = new ArrayList<>(MEMORY);
    private long offset;
    private int next;

    Feed(Workload workload, Contender contender, int partition, long seed) {
        this.workload = workload;
        this.size = Math.min(workload.batch(), contender.mostTogether());
        this.failing = contender.failing();
        this.partition = partition;
        this.random = new SplittableRandom(seed);
    }

    List<Delivery> poll() {
        return poll(workload.duplicates());
    }

    /** Messages that are all new, to be repeated later; empty when there are enough of them. */
    List<Delivery> pollFresh() {
        return recent.size() < Math.max(size, HISTORY) ? poll(0) : List.of();
    }

    private List<Delivery> poll(int duplicates) {
        List<Delivery> batch = new ArrayList<>(size);
        while (batch.size() < size) {
            boolean repeated = !recent.isEmpty() && random.nextInt(100) < duplicates;
            batch.add(repeated ? repeat() : fresh());
        }
        batch.stream().filter(Delivery::fresh).forEach(this::remember);
        return batch;
    }

    private Delivery fresh() {
        offset++;
        boolean fails = random.nextInt(100) < failing;
        return new Delivery(id().toString(), partition + "-" + offset, CENTS, true, fails, partition, offset);
    }

    private void remember(Delivery delivery) {
        if (recent.size() < MEMORY) {
            recent.add(delivery);
        } else {
            recent.set((int) (delivery.offset() % MEMORY), delivery);
        }
    }

    /** One after the other, so that a batch has none of them twice. */
    private Delivery repeat() {
        next = (next + 1) % recent.size();
        Delivery first = recent.get(next);
        return new Delivery(
                first.id(), first.order(), first.cents(), false, first.failing(), first.partition(), first.offset());
    }

    private UUID id() {
        long high = random.nextLong();
        long low = (random.nextLong() & 0x3FFF_FFFF_FFFF_FFFFL) | Long.MIN_VALUE;
        return workload.timeOrdered()
                ? new UUID((System.currentTimeMillis() << 16) | VERSION_7 | (high & 0x0FFFL), low)
                : new UUID((high & ~0xF000L) | VERSION_4, low);
    }
}
