package dev.idem.broker.spi;

import dev.idem.Inbox;
import dev.idem.broker.Waiting;
import dev.idem.spi.MarkerStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells a store that does not answer from a handler that takes long: both keep a lane with its batch. When a lane has had
 * its batch for a while, the store is asked on a thread of its own, one question at a time. Thread-safe.
 */
final class StoreProbe {
    private static final Logger log = LoggerFactory.getLogger(StoreProbe.class);
    private static final Duration LONG = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private final String name;
    private final Inbox inbox;
    private final ThreadFactory threads;
    private final Pace pace;
    private final AtomicBoolean asking = new AtomicBoolean();
    private final long longNanos;
    private final long patienceNanos;
    private long askedAt;

    StoreProbe(String name, Inbox inbox, ThreadFactory threads) {
        this(name, inbox, threads, LONG, PATIENCE);
    }

    /**
     * A probe of its own kind.
     *
     * @param busy how long a lane may have its batch before the store is asked, and the pause between two questions
     * @param patience how long the store may take to answer
     */
    StoreProbe(String name, Inbox inbox, ThreadFactory threads, Duration busy, Duration patience) {
        this.name = name;
        this.inbox = inbox;
        this.threads = threads;
        longNanos = busy.toNanos();
        patienceNanos = patience.toNanos();
        askedAt = System.nanoTime() - longNanos;
        pace = Pace.ofStore(name);
    }

    /**
     * Whether the store is what lanes wait for.
     *
     * @param busySince since when lanes have had their batches
     */
    synchronized Optional<Waiting> waiting(LongStream busySince) {
        long now = System.nanoTime();
        if (busySince.noneMatch(since -> now - since > longNanos)) {
            if (!asking.get()) {
                pace.succeeded(); // the lanes have had their answers
            }
            return Optional.empty();
        }
        if (asking.get()) {
            if (now - askedAt > patienceNanos && !pace.isWaiting()) {
                pace.failed(new IllegalStateException(), "it has not answered for some seconds");
            }
        } else if (now - askedAt > longNanos && inbox.store() instanceof MarkerStore.Pingable store) {
            ask(store);
        }
        return pace.waiting();
    }

    private void ask(MarkerStore.Pingable store) {
        Thread thread = threads.newThread(() -> {
            try {
                store.ping();
                pace.succeeded();
            } catch (Throwable noAnswer) { // whatever it is, it is no answer
                log.debug("{}: the store does not answer", name, noAnswer);
                pace.failed(noAnswer);
            } finally {
                asking.set(false);
            }
        });
        thread.setName(name + "-probe");
        askedAt = System.nanoTime();
        asking.set(true);
        boolean started = false;
        try {
            thread.start();
            started = true;
        } finally {
            if (!started) {
                asking.set(false);
            }
        }
    }
}
