package dev.idem.internal.worker;

import dev.idem.Inbox;
import dev.idem.internal.thread.Threads;
import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of running handlers, on a thread of its own, three times in each lease, until the handler has ended,
 * also while the inbox waits for handlers when it closes. All leases of an instance that are of one length are renewed
 * together, as soon as one of them is due, so that their number does not matter. A renewal that fails is tried again soon; a
 * lease that is lost all the same does no harm, because its holder cannot commit.
 */
final class Leases implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final long LONGEST_NAP = Duration.ofMillis(500).toNanos();

    /** How many are renewed by one statement. */
    private static final int MOST_TOGETHER = 500;

    private final QueueStore store;
    private final Set<Kept> all = ConcurrentHashMap.newKeySet();
    private final Thread thread = new Thread(this::renewUntilClosed, "idem-leases");
    private volatile boolean warned;
    private volatile boolean closed;

    Leases(QueueStore store) {
        this.store = store;
        thread.setDaemon(true);
    }

    /** @param slow called on a thread of its own, once, if they are still kept after a moment */
    Kept keep(QueueStore.Taking taking, List<QueuedMessage> messages, Duration lease, Runnable slow) {
        Kept kept = new Kept(taking, messages, lease, slow);
        all.add(kept);
        start();
        LockSupport.unpark(thread);
        return kept;
    }

    private synchronized void start() {
        if (thread.getState() == Thread.State.NEW) {
            thread.start();
        }
    }

    private void renewUntilClosed() {
        while (!closed) {
            long nap = LONGEST_NAP;
            try {
                for (Map.Entry<Duration, List<Kept>> same : byLength().entrySet()) {
                    nap = Math.min(nap, renewIfDue(same.getKey(), same.getValue()));
                }
                for (Kept kept : all) {
                    nap = Math.min(nap, kept.tellIfSlow());
                }
            } catch (Throwable failure) { // nothing may end the thread that all leases depend on
                Threads.survived(log, "Leases could not be looked after; tried again", failure);
            }
            LockSupport.parkNanos(this, nap);
        }
    }

    private Map<Duration, List<Kept>> byLength() {
        Map<Duration, List<Kept>> lengths = new LinkedHashMap<>();
        all.forEach(kept ->
                lengths.computeIfAbsent(kept.lease, length -> new ArrayList<>()).add(kept));
        return lengths;
    }

    /** Answers how long until the next one is due. */
    private long renewIfDue(Duration lease, List<Kept> same) {
        long now = System.nanoTime();
        if (same.stream().anyMatch(kept -> kept.due - now <= 0)) {
            long next = renewed(lease, same) ? lease.toNanos() / 3 : lease.toNanos() / 10;
            same.forEach(kept -> kept.due = now + next);
        }
        return same.stream()
                .mapToLong(kept -> Math.max(1, kept.due - System.nanoTime()))
                .min()
                .orElse(LONGEST_NAP);
    }

    private boolean renewed(Duration lease, List<Kept> same) {
        QueueStore.Taking taking = same.get(0).taking;
        List<QueuedMessage> messages =
                same.stream().flatMap(kept -> kept.messages.stream()).toList();
        try {
            for (int from = 0; from < messages.size(); from += MOST_TOGETHER) {
                store.renew(taking, messages.subList(from, Math.min(from + MOST_TOGETHER, messages.size())), lease);
            }
            warned = false;
            return true;
        } catch (RuntimeException failure) {
            if (warned) {
                log.debug("{}: leases could not be renewed", taking.consumer(), failure);
            } else {
                warned = true;
                log.warn("{}: leases could not be renewed; tried again until they run out", taking.consumer(), failure);
            }
            return false;
        }
    }

    /** Nothing is renewed any more, not even for handlers that still run. */
    @Override
    public void close() {
        closed = true;
        all.clear();
        LockSupport.unpark(thread);
    }

    /** The leases of one worker's batch; closing it ends the renewal. */
    final class Kept implements AutoCloseable {
        private final QueueStore.Taking taking;
        private final Duration lease;
        private final List<QueuedMessage> messages;
        private final Runnable slow;
        private final long slowAt = System.nanoTime() + LeaseSize.slow();
        private boolean told;
        private volatile long due;

        private Kept(QueueStore.Taking taking, List<QueuedMessage> messages, Duration lease, Runnable slow) {
            this.slow = slow;
            this.told = messages.size() < 2; // nobody waits for it
            this.taking = taking;
            this.messages = messages;
            this.lease = lease;
            this.due = System.nanoTime() + lease.toNanos() / 3;
        }

        /** Answers how long until it is to be told. */
        private long tellIfSlow() {
            long left = slowAt - System.nanoTime();
            if (!told && left <= 0) {
                Threads.start("idem-share", false, slow);
                told = true;
            }
            return told ? LONGEST_NAP : left;
        }

        @Override
        public void close() {
            all.remove(this);
        }
    }
}
