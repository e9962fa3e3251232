package dev.idem.cli.demo;

import dev.idem.Settlement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;

/**
 * At-least-once delivery, in memory: keeps each publication until it is acknowledged, and gives back to the queue what a
 * dead consumer left unacknowledged. Used by one thread.
 */
final class Broker {
    /** How many deliveries may be unacknowledged at once. */
    static final int PREFETCH = 8;

    private static final int RETRY_BEHIND = 20;
    private static final int MOST_DELIVERIES = 200;

    /** From then on a message that is refused waits: whoever refuses it has no database at the moment, and answers at once. */
    private static final int PATIENT_DELIVERIES = 10;

    private static final long PAUSE_NANOS = Duration.ofMillis(100).toNanos();

    private final PriorityQueue<Queued> queue =
            new PriorityQueue<>(Comparator.comparingInt(Queued::position).thenComparingLong(Queued::number));
    private final Map<Long, Queued> unacknowledged = new HashMap<>();
    private final Deque<Paused> paused = new ArrayDeque<>();
    private int position;
    private long deliveries;
    private long redeliveries;
    private int settled;
    private int deadLettered;
    private int duplicates;

    Broker(DemoPlan plan) {
        plan.publications().forEach(p -> queue.add(new Queued(p, p.position(), 0)));
    }

    boolean isDone() {
        return queue.isEmpty() && paused.isEmpty() && unacknowledged.isEmpty();
    }

    boolean canDeliver() {
        while (!paused.isEmpty() && paused.peek().until - System.nanoTime() <= 0) {
            queue.add(paused.remove().message);
        }
        return !queue.isEmpty() && unacknowledged.size() < PREFETCH;
    }

    /** True when the next delivery is the first of its payment: it will run the handler. */
    boolean nextIsFresh() {
        Queued next = queue.peek();
        return next != null && next.delivered == 0 && next.publication.copy() == 0;
    }

    Delivery deliver(CrashWindow window) {
        Queued next = Objects.requireNonNull(queue.poll(), "nothing to deliver");
        if (next.delivered >= MOST_DELIVERIES) {
            throw new IllegalStateException("A message was delivered " + MOST_DELIVERIES + " times without success");
        }
        position = Math.max(position, next.position);
        redeliveries += next.delivered > 0 ? 1 : 0;
        Publication publication = next.publication;
        var delivery = new Delivery(
                ++deliveries, window, publication.workMillis(), publication.trouble(), publication.payment());
        unacknowledged.put(delivery.tag(), new Queued(publication, next.position, next.delivered + 1));
        return delivery;
    }

    void settle(Answer.Settled answer) {
        Queued delivered = Objects.requireNonNull(unacknowledged.remove(answer.tag()), "unknown delivery");
        duplicates += answer.duplicate() ? 1 : 0;
        boolean lost = delivered.publication.ackLost() && delivered.delivered == 1;
        if (lost || answer.settlement() == Settlement.RETRY) {
            Queued again = new Queued(delivered.publication, position + RETRY_BEHIND, delivered.delivered);
            if (again.delivered < PATIENT_DELIVERIES) {
                queue.add(again);
            } else {
                paused.add(new Paused(again, System.nanoTime() + PAUSE_NANOS));
            }
        } else {
            settled++;
            deadLettered += answer.settlement() == Settlement.DEAD_LETTER ? 1 : 0;
        }
    }

    /** The consumer is dead: what it had not acknowledged comes again, in its old place. */
    void takeBack() {
        queue.addAll(unacknowledged.values());
        unacknowledged.clear();
    }

    int settled() {
        return settled;
    }

    LaneResult result(int kills, int failures) {
        return new LaneResult(deliveries, redeliveries, duplicates, kills, deadLettered, failures);
    }

    private record Paused(Queued message, long until) {}

    private record Queued(Publication publication, int position, int delivered) {
        long number() {
            return publication.number();
        }
    }
}
