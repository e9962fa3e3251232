package dev.idem.broker;

import dev.idem.broker.Lanes.Delivery;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread's deliveries. What must come again waits in a queue of its ordering key, and whatever arrives for that key
 * lines up behind it; all other keys flow on.
 */
final class Lane<D> implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(Lane.class);
    private static final long FOREVER = Duration.ofHours(1).toNanos();

    private final Work<D> work;
    private final Pace pace;
    private final int most;
    private final Deque<Entry<D>> fresh = new ArrayDeque<>();
    private final Map<Object, Waiting<D>> waiting = new HashMap<>();
    private final PriorityQueue<Waiting<D>> byTime = new PriorityQueue<>();
    private List<Entry<D>> running = List.of();
    private int pending;
    private boolean stopped;
    private volatile @Nullable Throwable failure;
    private @Nullable Thread thread;

    Lane(Work<D> work, Pace pace, int most) {
        this.work = work;
        this.pace = pace;
        this.most = most;
    }

    /** A delivery in a lane. Its fields belong to the lane's thread. */
    static final class Entry<D> {
        final Delivery<D> delivery;
        final Object order;
        int failures;
        /** Decided, but not published yet. */
        @Nullable
        DeadLetter letter;

        int publishFailures;
        int waits;
        boolean forgotten;

        Entry(Delivery<D> delivery, Object order) {
            this.delivery = delivery;
            this.order = order;
            failures = delivery.failures();
        }
    }

    /** The deliveries of one ordering key, when the first of them must wait. */
    private static final class Waiting<D> implements Comparable<Waiting<D>> {
        final Deque<Entry<D>> entries = new ArrayDeque<>();
        long due;

        @Override
        public int compareTo(Waiting<D> other) {
            return Long.signum(due - other.due);
        }
    }

    synchronized void start(Thread started) {
        thread = started;
        started.start();
    }

    synchronized void add(List<Entry<D>> entries) {
        if (!stopped && !entries.isEmpty()) {
            fresh.addAll(entries);
            pending += entries.size();
            notifyAll();
        }
    }

    /** Why its thread has died, if it has. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    synchronized int pending() {
        return pending;
    }

    @Override
    public void run() {
        try {
            for (List<Entry<D>> batch = next(); !batch.isEmpty(); batch = next()) {
                List<Work.Later<D>> later = List.of();
                try {
                    later = work.on(batch);
                } finally {
                    ended(batch, later);
                }
            }
        } catch (RuntimeException | Error fatal) {
            log.error("A lane has died; what is not settled comes again when the listener is started again", fatal);
            failure = fatal;
            stop();
        }
    }

    /** Waits for something to do; empty when it is time to stop. An interrupt that a handler has left behind ends nothing. */
    private synchronized List<Entry<D>> next() {
        while (!stopped) {
            long pause = pace.left().toNanos();
            if (pause <= 0) {
                running = take();
                if (!running.isEmpty()) {
                    return running;
                }
                Waiting<D> first = byTime.peek();
                pause = first == null ? FOREVER : first.due - System.nanoTime();
            }
            try {
                wait(Math.max(1, pause / 1_000_000));
            } catch (InterruptedException leftBehind) {
                log.debug("A handler has left an interrupt behind");
            }
        }
        return List.of();
    }

    /** The keys whose time has come, and then what is new. */
    private List<Entry<D>> take() {
        List<Entry<D>> batch = new ArrayList<>();
        long now = System.nanoTime();
        for (Waiting<D> first = byTime.peek(); first != null && first.due - now <= 0; first = byTime.peek()) {
            if (batch.size() >= most) {
                return batch;
            }
            byTime.remove();
            while (!first.entries.isEmpty() && batch.size() < most) {
                batch.add(first.entries.remove());
            }
        }
        while (!fresh.isEmpty() && batch.size() < most) {
            Entry<D> entry = fresh.remove();
            Waiting<D> before = waiting.get(entry.order);
            if (before == null) {
                batch.add(entry);
            } else {
                before.entries.add(entry);
            }
        }
        return batch;
    }

    private synchronized void ended(List<Entry<D>> batch, List<Work.Later<D>> later) {
        running = List.of();
        pending -= batch.size();
        for (int i = later.size() - 1; i >= 0; i--) { // from behind, so that the first is in front at last
            Work.Later<D> again = later.get(i);
            if (!again.entry().forgotten) {
                Waiting<D> queue = waiting.computeIfAbsent(again.entry().order, key -> new Waiting<>());
                queue.entries.addFirst(again.entry());
                queue.due = again.due();
                pending++;
            }
        }
        for (Entry<D> entry : batch) {
            queueAgain(entry.order);
        }
        notifyAll();
    }

    /** Puts the queue of a key where its time says, or away if nothing is left in it. */
    private void queueAgain(Object order) {
        Waiting<D> queue = waiting.get(order);
        if (queue != null) {
            byTime.remove(queue);
            if (queue.entries.isEmpty()) {
                waiting.remove(order);
            } else {
                byTime.add(queue);
            }
        }
    }

    synchronized void forget(Predicate<D> leaving) {
        Predicate<Entry<D>> gone = entry -> leaving.test(entry.delivery.origin());
        running.stream().filter(gone).forEach(entry -> entry.forgotten = true);
        int before = sizes();
        fresh.removeIf(gone);
        waiting.values().forEach(queue -> queue.entries.removeIf(gone));
        List.copyOf(waiting.keySet()).forEach(this::queueAgain);
        pending -= before - sizes();
    }

    private int sizes() {
        return fresh.size()
                + waiting.values().stream().mapToInt(q -> q.entries.size()).sum();
    }

    synchronized boolean awaitNone(Predicate<D> leaving, long deadline) {
        while (running.stream().anyMatch(entry -> leaving.test(entry.delivery.origin()))) {
            long left = (deadline - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                return false;
            }
            try {
                wait(left);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return true;
    }

    synchronized void stop() {
        stopped = true;
        notifyAll();
    }

    /** Interrupts what has not ended by then. */
    boolean join(long deadline) {
        Thread running = thread;
        if (running == null || running == Thread.currentThread()) {
            return true;
        }
        try {
            running.join(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
        if (running.isAlive()) {
            running.interrupt();
        }
        return !running.isAlive();
    }
}
