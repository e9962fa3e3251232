package dev.idem.broker;

import dev.idem.broker.Lane.Entry;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the copies that lanes ask for, dead letters and postponed messages, on a thread of its own. A copy that the
 * broker does not take is tried again at its own pace, and holds up neither the lanes nor the other copies. The copies are
 * counted as pending, so what bounds the lanes bounds them too. Thread-safe.
 */
final class CopyPublisher<D> implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(Lanes.class);
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 30_000;
    private static final long LONGEST_WAIT_MILLIS = 3_600_000;

    private final Copies<D> copies;
    private final Pace pace;
    private final PriorityQueue<Job<D>> jobs = new PriorityQueue<>(Comparator.comparingLong(job -> job.due));
    private @Nullable Job<D> current;
    private boolean stopped;
    private boolean draining;
    private @Nullable Thread thread;

    CopyPublisher(String name, Copies<D> copies) {
        this.copies = copies;
        pace = Pace.ofBroker(name, "dead letters");
    }

    /** A copy to be published, for the lane that waits for it. */
    static final class Job<D> {
        final Entry<D> entry;
        final Lane<D> lane;
        private long due = System.nanoTime();
        private int failures;

        Job(Entry<D> entry, Lane<D> lane) {
            this.entry = entry;
            this.lane = lane;
        }
    }

    /** What becomes of a copy. */
    interface Copies<D> {
        /** Publishes it, or throws. */
        void publish(Entry<D> entry) throws Exception;
    }

    synchronized void start(Thread started) {
        thread = started;
        started.start();
    }

    synchronized void add(Job<D> job) {
        jobs.add(job);
        notifyAll();
    }

    /** What cannot be published now, since when and why. */
    Optional<Waiting> waiting() {
        return pace.waiting();
    }

    @Override
    public void run() {
        for (Job<D> job = next(); job != null; job = next()) {
            try {
                publish(job);
            } catch (Throwable unexpected) { // whatever it is, the other copies must go on
                log.error("A copy could not be published; tried again", unexpected);
                again(job, unexpected);
            }
        }
    }

    private void publish(Job<D> job) {
        try {
            if (!job.entry.forgotten) {
                copies.publish(job.entry);
                pace.succeeded();
            }
            ended(job);
            job.lane.published(job.entry);
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
            again(job, closing);
        } catch (Exception failure) {
            pace.failed(failure);
            if (job.entry.letter == null) { // a postponed message can also wait here
                ended(job);
                job.lane.notPostponed(job.entry);
            } else {
                again(job, failure);
            }
        }
    }

    private synchronized void ended(Job<D> job) {
        if (current == job) {
            current = null;
            notifyAll();
        }
    }

    private synchronized void again(Job<D> job, Throwable cause) {
        log.debug("A copy could not be published", cause);
        job.failures++;
        long pause = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(job.failures, 20));
        job.due = System.nanoTime() + Duration.ofMillis(pause).toNanos();
        ended(job);
        jobs.add(job);
    }

    /** Waits for something to publish; null when it is time to stop. */
    private synchronized @Nullable Job<D> next() {
        while (!stopped) {
            Job<D> first = jobs.peek();
            long wait = first == null ? LONGEST_WAIT_MILLIS : (first.due - System.nanoTime()) / 1_000_000;
            if (first != null && wait <= 0) {
                current = jobs.remove();
                return current;
            }
            if (draining) {
                return null; // what is left has failed already, and the broker delivers it again
            }
            try {
                wait(Math.max(1, wait));
            } catch (InterruptedException leftBehind) {
                log.debug("An interrupt was left behind");
            }
        }
        return null;
    }

    synchronized void forget(Predicate<D> leaving) {
        jobs.removeIf(job -> isDropped(job, leaving));
        Job<D> now = current;
        if (now != null) {
            isDropped(now, leaving);
        }
    }

    private boolean isDropped(Job<D> job, Predicate<D> leaving) {
        boolean leaves = leaving.test(job.entry.delivery.origin());
        if (leaves) {
            job.lane.drop(job.entry);
        }
        return leaves;
    }

    /** Waits until nothing of these is being published. */
    synchronized boolean awaitNone(Predicate<D> leaving, long deadline) {
        while (current != null && leaving.test(current.entry.delivery.origin())) {
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

    /** Publishes what has not failed yet, within the time, and ends. */
    boolean close(long deadline) {
        Thread running;
        synchronized (this) {
            draining = true;
            running = thread;
            notifyAll();
        }
        boolean ended = Lane.join(running, deadline);
        synchronized (this) {
            stopped = true;
            notifyAll();
        }
        return ended;
    }
}
