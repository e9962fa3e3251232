package dev.idem.broker;

import dev.idem.broker.Lanes.Delivery;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
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
    private static final long LONGEST_WAIT = Duration.ofHours(1).toNanos();

    /** Later than any retry: for what is due when its letter is published. */
    private static final long NEVER = Duration.ofDays(10_000).toNanos();

    private final Work<D> work;
    private final CopyPublisher<D> publisher;
    private final Pace pace;
    private final int most;
    private final Deque<Entry<D>> fresh = new ArrayDeque<>();
    private final Map<Object, KeyQueue<D>> waiting = new HashMap<>();
    private final PriorityQueue<KeyQueue<D>> byTime = new PriorityQueue<>();
    private List<Entry<D>> running = List.of();
    private int pending;
    private long bytes;
    private long since;
    private boolean stopped;
    private volatile @Nullable Throwable failure;
    private @Nullable Thread thread;

    Lane(Work<D> work, CopyPublisher<D> publisher, Pace pace, int most) {
        this.work = work;
        this.publisher = publisher;
        this.pace = pace;
        this.most = most;
    }

    /** A delivery in a lane. Its fields belong to the lane's thread, or to the publisher while it has it. */
    static final class Entry<D> {
        final Delivery<D> delivery;
        final Object order;
        final long bytes;
        int failures;
        int waits;
        volatile boolean forgotten;

        /** Decided, but not published yet. */
        @Nullable
        DeadLetter letter;

        /** The letter is out; only the mark must still pass it. */
        boolean letterIsOut;

        /** When it comes again, if the broker is to keep it until then. */
        Duration postponed = Duration.ZERO;

        Entry(Delivery<D> delivery, Object order) {
            this.delivery = delivery;
            this.order = order;
            bytes = delivery.message().size();
            failures = delivery.failures();
        }
    }

    /** The deliveries of one ordering key, when the first of them must wait. */
    private static final class KeyQueue<D> implements Comparable<KeyQueue<D>> {
        final Deque<Entry<D>> entries = new ArrayDeque<>();
        long due;

        @Override
        public int compareTo(KeyQueue<D> other) {
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
            entries.forEach(this::count);
            notifyAll();
        }
    }

    private void count(Entry<D> entry) {
        pending++;
        bytes += entry.bytes;
    }

    private void discount(Entry<D> entry) {
        pending--;
        bytes -= entry.bytes;
    }

    /** Why its thread has died, if it has. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    synchronized int pending() {
        return pending;
    }

    synchronized long bytes() {
        return bytes;
    }

    /** Since when, by {@link System#nanoTime}, its thread has been with the present batch; empty if it has none. */
    synchronized OptionalLong busySince() {
        return running.isEmpty() ? OptionalLong.empty() : OptionalLong.of(since);
    }

    @Override
    public void run() {
        try {
            for (List<Entry<D>> batch = next(); !batch.isEmpty(); batch = next()) {
                Work.Result<D> result = Work.Result.none();
                try {
                    result = work.on(batch);
                } finally {
                    ended(batch, result);
                }
                result.copies().forEach(entry -> publisher.add(new CopyPublisher.Job<>(entry, this)));
            }
        } catch (RuntimeException | Error fatal) {
            log.error("A lane has died; what is not settled comes again when the listener is restarted", fatal);
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
                    since = System.nanoTime();
                    return running;
                }
                KeyQueue<D> first = byTime.peek();
                pause = first == null ? LONGEST_WAIT : Math.min(LONGEST_WAIT, first.due - System.nanoTime());
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
        for (KeyQueue<D> first = byTime.peek(); first != null && first.due - now <= 0; first = byTime.peek()) {
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
            KeyQueue<D> before = waiting.get(entry.order);
            if (before == null) {
                batch.add(entry);
            } else {
                before.entries.add(entry);
            }
        }
        return batch;
    }

    private synchronized void ended(List<Entry<D>> batch, Work.Result<D> result) {
        running = List.of();
        batch.forEach(this::discount);
        List<Work.Later<D>> later = result.later();
        for (int i = later.size() - 1; i >= 0; i--) { // from behind, so that the first is in front at last
            putBack(later.get(i).entry(), later.get(i).due());
        }
        for (Entry<D> entry : result.copies()) {
            if (entry.letter != null) { // behind a letter that is not out yet nothing of its key is handled
                putBack(entry, System.nanoTime() + NEVER);
            } else if (!entry.forgotten) {
                count(entry);
            }
        }
        for (Entry<D> entry : batch) {
            queueAgain(entry.order);
        }
        notifyAll();
    }

    private void putBack(Entry<D> entry, long due) {
        if (!entry.forgotten) {
            KeyQueue<D> queue = waiting.computeIfAbsent(entry.order, key -> new KeyQueue<>());
            queue.entries.addFirst(entry);
            queue.due = due;
            count(entry);
        }
    }

    /** Its copy is out, and it is settled. */
    synchronized void published(Entry<D> entry) {
        KeyQueue<D> queue = waiting.get(entry.order);
        if (entry.forgotten) {
            return;
        }
        discount(entry);
        if (queue != null && queue.entries.remove(entry)) {
            queue.due = System.nanoTime();
            queueAgain(entry.order);
        }
        notifyAll();
    }

    /** It left while its copy was with the publisher. */
    synchronized void drop(Entry<D> entry) {
        if (!entry.forgotten) {
            entry.forgotten = true;
            discount(entry);
        }
    }

    /** The broker does not keep it, so it waits here. */
    synchronized void notPostponed(Entry<D> entry) {
        if (!entry.forgotten && !stopped) {
            discount(entry);
            putBack(entry, System.nanoTime() + entry.postponed.toNanos());
            queueAgain(entry.order);
            notifyAll();
        }
    }

    /** Puts the queue of a key where its time says, or away if nothing is left in it. */
    private void queueAgain(Object order) {
        KeyQueue<D> queue = waiting.get(order);
        if (queue != null) {
            byTime.remove(queue);
            if (queue.entries.isEmpty()) {
                waiting.remove(order);
            } else {
                byTime.add(queue);
            }
        }
    }

    /** Those that wait are gone at once; those that are worked on or published now, as soon as they are through. */
    synchronized void forget(Predicate<D> leaving) {
        Predicate<Entry<D>> gone = entry -> leaving.test(entry.delivery.origin());
        running.stream().filter(gone).forEach(entry -> entry.forgotten = true);
        forget(fresh, gone);
        waiting.values().forEach(queue -> forget(queue.entries, gone));
        List.copyOf(waiting.keySet()).forEach(this::queueAgain);
    }

    private void forget(Deque<Entry<D>> entries, Predicate<Entry<D>> gone) {
        entries.removeIf(entry -> {
            if (!gone.test(entry)) {
                return false;
            }
            entry.forgotten = true;
            discount(entry);
            return true;
        });
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

    boolean join(long deadline) {
        return join(thread, deadline);
    }

    /** Waits for a thread's end, and interrupts what has not ended by then. */
    static boolean join(@Nullable Thread running, long deadline) {
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
