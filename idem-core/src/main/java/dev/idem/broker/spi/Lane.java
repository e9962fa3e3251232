package dev.idem.broker.spi;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread's deliveries. What must come again waits in a queue of its ordering key, and whatever arrives for that key
 * lines up behind it; all other keys flow on. So it is with a dead letter until it is published. A message that the broker
 * is to keep for a while is with the publisher meanwhile, and holds up nothing.
 *
 * <p>Locks: the publisher calls a lane and a lane calls the publisher, but neither while it holds its own lock.
 */
final class Lane<D> implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(Lane.class);
    private static final long LONGEST_WAIT = Duration.ofHours(1).toNanos();

    private final DeliveryWork<D> work;
    private final CopyPublisher<D> publisher;
    private final Pace pace;
    private final int most;
    private final Deque<Entry<D>> fresh = new ArrayDeque<>();
    private final KeyQueues<D> waiting = new KeyQueues<>();
    private final Set<Entry<D>> postponed = new HashSet<>();
    private List<Entry<D>> running = List.of();
    private int pending;
    private long bytes;
    private long since;
    private boolean stopped;
    private volatile @Nullable Throwable failure;
    private @Nullable Thread thread;

    Lane(DeliveryWork<D> work, CopyPublisher<D> publisher, Pace pace, int most) {
        this.work = work;
        this.publisher = publisher;
        this.pace = pace;
        this.most = most;
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
        if (!entry.counted) {
            entry.counted = true;
            pending++;
            bytes += entry.bytes;
        }
    }

    private void discount(Entry<D> entry) {
        if (entry.counted) {
            entry.counted = false;
            pending--;
            bytes -= entry.bytes;
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
                DeliveryWork.Result<D> result = DeliveryWork.Result.none();
                try {
                    result = work.on(batch);
                } finally {
                    ended(batch, result);
                }
                result.copies().forEach(entry -> publisher.add(entry, this));
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
                Long due = waiting.nextDue();
                pause = due == null ? LONGEST_WAIT : Math.min(LONGEST_WAIT, due - System.nanoTime());
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
        waiting.takeDue(batch, most);
        while (!fresh.isEmpty() && batch.size() < most) {
            Entry<D> entry = fresh.remove();
            if (!waiting.follow(entry)) {
                batch.add(entry);
            }
        }
        return batch;
    }

    private synchronized void ended(List<Entry<D>> batch, DeliveryWork.Result<D> result) {
        running = List.of();
        batch.forEach(this::discount);
        List<DeliveryWork.Later<D>> later = result.later();
        for (int i = later.size() - 1; i >= 0; i--) { // from behind, so that the first is in front at last
            putBack(later.get(i).entry(), later.get(i).due());
        }
        for (Entry<D> entry : result.copies()) {
            if (entry.letter == null) {
                postpone(entry);
            } else { // behind a letter that is not out yet nothing of its key is handled
                entry.publishing = true;
                putBack(entry, System.nanoTime());
            }
        }
        batch.forEach(entry -> waiting.arrange(entry.order));
        notifyAll();
    }

    private void postpone(Entry<D> entry) {
        if (!entry.forgotten) {
            postponed.add(entry);
            count(entry);
        }
    }

    private void putBack(Entry<D> entry, long due) {
        if (!entry.forgotten) {
            waiting.putBack(entry, due);
            count(entry);
        }
    }

    /** Its copy is out, and it is settled. */
    synchronized void published(Entry<D> entry) {
        discount(entry);
        postponed.remove(entry);
        if (waiting.remove(entry)) {
            waiting.arrange(entry.order);
        }
        notifyAll();
    }

    /** The broker does not keep it, so it waits here. */
    synchronized void notPostponed(Entry<D> entry) {
        if (postponed.remove(entry)) {
            putBack(entry, System.nanoTime() + entry.postponed.toNanos());
            waiting.arrange(entry.order);
            notifyAll();
        }
    }

    /** Those that wait are gone at once; those that are worked on or published now, as soon as they are through. */
    synchronized void forget(Predicate<D> leaving) {
        Predicate<Entry<D>> gone = entry -> {
            boolean leaves = leaving.test(entry.delivery.origin());
            if (leaves) {
                entry.forgotten = true;
                discount(entry);
            }
            return leaves;
        };
        running.stream()
                .filter(entry -> leaving.test(entry.delivery.origin()))
                .forEach(entry -> entry.forgotten = true);
        fresh.removeIf(gone);
        postponed.removeIf(gone);
        waiting.removeIf(gone);
        notifyAll();
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

    /** Waits for a thread's end, and interrupts what has not ended by then: false, however soon that helps. */
    static boolean join(@Nullable Thread running, long deadline) {
        if (running == null || running == Thread.currentThread()) {
            return true;
        }
        try {
            running.join(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
        boolean ended = !running.isAlive();
        if (!ended) {
            running.interrupt();
        }
        return ended;
    }
}
