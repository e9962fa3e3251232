package dev.idem;

import dev.idem.spi.QueueStore;
import dev.idem.spi.QueuedMessage;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of running handlers, on a thread of its own, three times in each lease, until the handler has ended,
 * also while the inbox is closing. A renewal that fails is tried again at once and then with the next look; a lease that is lost
 * all the same does no harm, because its holder cannot commit.
 */
final class Leases implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final long LONGEST_NAP = Duration.ofMillis(500).toNanos();

    private final QueueStore store;
    private final Set<Kept> all = ConcurrentHashMap.newKeySet();
    private final Thread thread = new Thread(this::renewAll, "idem-leases");
    private volatile boolean closed;

    Leases(QueueStore store) {
        this.store = store;
        thread.setDaemon(true);
    }

    Kept keep(QueueStore.Taking taking, List<QueuedMessage> messages, Duration lease) {
        Kept kept = new Kept(taking, messages, lease);
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

    private void renewAll() {
        while (!closed || !all.isEmpty()) {
            long now = System.nanoTime();
            long nap = LONGEST_NAP;
            for (Kept kept : all) {
                if (kept.due - now <= 0) {
                    kept.renew();
                }
                nap = Math.min(nap, Math.max(1, kept.due - System.nanoTime()));
            }
            LockSupport.parkNanos(this, nap);
        }
    }

    /** The thread ends when the last handler has. */
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }

    /** The leases of one worker's batch; closing it ends the renewal. */
    final class Kept implements AutoCloseable {
        private final QueueStore.Taking taking;
        private final Duration lease;
        private final List<QueuedMessage> messages;
        private volatile long due;
        private boolean warned;

        private Kept(QueueStore.Taking taking, List<QueuedMessage> messages, Duration lease) {
            this.taking = taking;
            this.messages = messages;
            this.lease = lease;
            this.due = System.nanoTime() + lease.toNanos() / 3;
        }

        private void renew() {
            due = System.nanoTime() + lease.toNanos() / 3;
            try {
                store.renew(taking, messages, lease);
                warned = false;
            } catch (Throwable failure) { // nothing may end the thread that all leases depend on
                due = System.nanoTime() + lease.toNanos() / 10;
                if (warned) {
                    log.debug("{}: leases could not be renewed", taking.consumer(), failure);
                } else {
                    warned = true;
                    log.warn(
                            "{}: leases could not be renewed; tried again until they run out",
                            taking.consumer(),
                            failure);
                }
            }
        }

        @Override
        public void close() {
            all.remove(this);
        }
    }
}
