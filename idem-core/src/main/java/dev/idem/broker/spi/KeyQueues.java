package dev.idem.broker.spi;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The deliveries of ordering keys whose first must wait, each key by itself. The first waits for its time, or until its
 * letter is published. Not thread-safe: guarded by the lane.
 */
final class KeyQueues<D> {
    /** Later than any retry: for what is due when its letter is published. */
    private static final long NEVER = Duration.ofDays(10_000).toNanos();

    private final Map<Object, Queue<D>> byKey = new HashMap<>();
    private final PriorityQueue<Queue<D>> byTime = new PriorityQueue<>();

    private static final class Queue<D> implements Comparable<Queue<D>> {
        final Deque<Entry<D>> entries = new ArrayDeque<>();
        long due;

        @Override
        public int compareTo(Queue<D> other) {
            return Long.signum(due - other.due);
        }
    }

    /** Lines up behind what waits of the same key; answers whether something does. */
    boolean follow(Entry<D> entry) {
        Queue<D> before = byKey.get(entry.order);
        if (before == null) {
            return false;
        }
        before.entries.add(entry);
        return true;
    }

    /** Puts it before everything else of its key. To be followed by {@link #arrange}. */
    void putBack(Entry<D> entry, long due) {
        Queue<D> queue = byKey.computeIfAbsent(entry.order, key -> new Queue<>());
        queue.entries.addFirst(entry);
        queue.due = due;
    }

    /** Moves what is due into the batch, key by key, until it has so many. */
    void takeDue(List<Entry<D>> batch, int most) {
        long now = System.nanoTime();
        for (Queue<D> first = byTime.peek(); first != null && first.due - now <= 0; first = byTime.peek()) {
            if (batch.size() >= most) {
                return;
            }
            byTime.remove();
            while (isFirstFree(first) && batch.size() < most) {
                batch.add(first.entries.remove());
            }
        }
    }

    private static <D> boolean isFirstFree(Queue<D> queue) {
        Entry<D> first = queue.entries.peek();
        return first != null && !first.publishing;
    }

    /** Takes it away, so that those behind it are due; answers whether it was here. To be followed by {@link #arrange}. */
    boolean remove(Entry<D> entry) {
        Queue<D> queue = byKey.get(entry.order);
        if (queue == null) {
            return false;
        }
        if (queue.entries.peek() == entry) {
            queue.due = System.nanoTime();
        }
        return queue.entries.remove(entry);
    }

    /** Puts the queue of a key where its time says, or away if nothing is left in it. */
    void arrange(Object order) {
        Queue<D> queue = byKey.get(order);
        if (queue == null) {
            return;
        }
        byTime.remove(queue);
        if (queue.entries.isEmpty()) {
            byKey.remove(order);
            return;
        }
        if (!isFirstFree(queue)) {
            queue.due = System.nanoTime() + NEVER;
        }
        byTime.add(queue);
    }

    /** Removes these; those behind a first one that is gone need not wait for its time. */
    void removeIf(Predicate<Entry<D>> gone) {
        for (Object order : List.copyOf(byKey.keySet())) {
            Queue<D> queue = byKey.get(order);
            if (queue != null && removeFrom(queue, gone)) {
                arrange(order);
            }
        }
    }

    private static <D> boolean removeFrom(Queue<D> queue, Predicate<Entry<D>> gone) {
        Entry<D> first = queue.entries.peek();
        boolean any = false;
        for (Iterator<Entry<D>> each = queue.entries.iterator(); each.hasNext(); ) {
            if (gone.test(each.next())) {
                each.remove();
                any = true;
            }
        }
        if (any && queue.entries.peek() != first) {
            queue.due = System.nanoTime();
        }
        return any;
    }

    /** When the next is due, in the terms of {@link System#nanoTime}; null if nothing waits. */
    @Nullable
    Long nextDue() {
        Queue<D> first = byTime.peek();
        return first == null ? null : first.due;
    }
}
