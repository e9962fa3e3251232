package dev.idem.broker;

import dev.idem.Inbox;
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
    private static final long LONG_NANOS = Duration.ofSeconds(5).toNanos();
    private static final long PATIENCE_NANOS = Duration.ofSeconds(3).toNanos();
    private static final long EVERY_NANOS = Duration.ofSeconds(5).toNanos();

    private final String name;
    private final Inbox inbox;
    private final ThreadFactory threads;
    private final Pace pace;
    private final AtomicBoolean asking = new AtomicBoolean();
    private volatile long askedAt = System.nanoTime() - EVERY_NANOS;

    StoreProbe(String name, Inbox inbox, ThreadFactory threads) {
        this.name = name;
        this.inbox = inbox;
        this.threads = threads;
        pace = Pace.ofStore(name);
    }

    /**
     * Whether the store is what lanes wait for.
     *
     * @param busySince since when lanes have had their batches
     */
    Optional<Waiting> waiting(LongStream busySince) {
        long now = System.nanoTime();
        if (busySince.noneMatch(since -> now - since > LONG_NANOS)) {
            return Optional.empty();
        }
        if (asking.get()) {
            if (now - askedAt > PATIENCE_NANOS && !pace.isWaiting()) {
                pace.failed(new IllegalStateException(), "it has not answered for some seconds");
            }
        } else if (now - askedAt > EVERY_NANOS && inbox.store() instanceof MarkerStore.Pingable store) {
            ask(store);
        }
        return pace.waiting();
    }

    private void ask(MarkerStore.Pingable store) {
        if (!asking.compareAndSet(false, true)) {
            return;
        }
        askedAt = System.nanoTime();
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
        thread.start();
    }
}
