package dev.idem.broker.spi;

import dev.idem.broker.Waiting;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the copies that lanes ask for, dead letters and postponed messages, on a thread of its own. A letter that the
 * broker does not take is tried again at its own pace, and holds up neither the lanes nor the other copies; a postponed
 * message then waits in its lane. All are counted as pending, so what bounds the lanes bounds them too. Thread-safe.
 */
final class CopyPublisher<D> implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(KeyedExecutor.class);
    private static final String WHAT = "the place of dead letters";
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 30_000;
    private static final long LONGEST_WAIT_MILLIS = 3_600_000;
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final Copies<D> copies;
    private final Pace pace;
    private final PriorityQueue<Job<D>> jobs = new PriorityQueue<>((a, b) -> Long.signum(a.due - b.due));
    private @Nullable Job<D> current;
    private Instant currentSince = Instant.MIN;
    private boolean stopped;
    private boolean draining;
    private @Nullable Thread thread;

    CopyPublisher(String name, Copies<D> copies) {
        this.copies = copies;
        pace = Pace.ofBroker(name, WHAT);
    }

    /** A copy to be published, for the lane that waits for it. */
    private static final class Job<D> {
        final Entry<D> entry;
        final Lane<D> lane;
        long due = System.nanoTime();
        int failures;

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

    synchronized void add(Entry<D> entry, Lane<D> lane) {
        jobs.add(new Job<>(entry, lane));
        notifyAll();
    }

    /** What cannot be published now, since when and why. */
    synchronized Optional<Waiting> waiting() {
        if (isAnyFailing()) {
            return pace.waiting();
        }
        boolean unanswered =
                current != null && currentSince.isBefore(Instant.now().minus(PATIENCE));
        return unanswered
                ? Optional.of(new Waiting(WHAT, currentSince, "the broker has not confirmed a copy for some seconds"))
                : Optional.empty();
    }

    private boolean isAnyFailing() {
        return (current != null && current.failures > 0) || jobs.stream().anyMatch(job -> job.failures > 0);
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
            }
            ended(job);
            job.lane.published(job.entry);
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
            again(job, closing);
        } catch (Exception failure) {
            if (job.entry.letter == null) { // a postponed message can also wait here
                log.debug("A message could not be postponed at the broker, and waits here", failure);
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
        }
        if (!isAnyFailing()) {
            pace.succeeded();
        }
        notifyAll();
    }

    private synchronized void again(Job<D> job, Throwable cause) {
        if (current == job) { // else it has ended, and only telling its lane has failed
            current = null;
            job.failures++;
            pace.failed(cause);
            long pause = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(job.failures, 20));
            job.due = System.nanoTime() + Duration.ofMillis(pause).toNanos();
            jobs.add(job);
            notifyAll();
        }
    }

    /** Waits for something to publish; null when it is time to stop. */
    private synchronized @Nullable Job<D> next() {
        while (!stopped) {
            Job<D> first = jobs.peek();
            long wait = first == null ? LONGEST_WAIT_MILLIS : (first.due - System.nanoTime()) / 1_000_000;
            if (first != null && wait <= 0) {
                current = jobs.remove();
                currentSince = Instant.now();
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

    /** After the lanes have forgotten theirs. */
    synchronized void forget() {
        jobs.removeIf(job -> job.entry.forgotten);
        if (!isAnyFailing()) {
            pace.succeeded();
        }
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
