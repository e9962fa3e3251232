package dev.idem.test;

import dev.idem.Consumer;
import dev.idem.Message;
import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.spi.Batch;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.Guarantee;
import dev.idem.spi.Marker;
import dev.idem.spi.MarkerKey;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.StoredResult;
import dev.idem.spi.TransientStoreException;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A store for unit tests that need no database. It claims, waits, rolls back and remembers like a real one, and forgets
 * with the process. It has no transaction for a handler to write through: {@code tx.connection()} throws. Thread-safe.
 *
 * <pre>{@code
 * MemoryStore store = new MemoryStore();
 * Inbox inbox = Inbox.create(store);
 * inbox.process("mailer", message, tx -> mails.send(...));
 * assertThat(store.contains("mailer", "m-1")).isTrue();
 * }</pre>
 */
public final class MemoryStore implements MarkerStore.Batching, MarkerStore.Secretive, MarkerStore.Pingable {
    private static final int SECRET_BYTES = 32;

    private final Clock clock;
    private final byte[] secret = new byte[SECRET_BYTES];
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition released = lock.newCondition();
    private final Map<Key, Marker> markers = new HashMap<>();
    private final Map<Key, MemoryUnit> holders = new HashMap<>();

    public MemoryStore() {
        this(Clock.systemUTC());
    }

    /** Takes the times of its markers from a clock that a test can set. */
    public MemoryStore(Clock clock) {
        this.clock = Objects.requireNonNull(clock, "clock");
        new SecureRandom().nextBytes(secret);
    }

    @Override
    public byte[] secret() {
        return secret.clone();
    }

    /** Always answers. */
    @Override
    public void ping() {}

    @Override
    public Guarantee guarantee() {
        return Guarantee.WITHIN_PROCESS;
    }

    @Override
    public String describe() {
        return "memory of this process";
    }

    @Override
    public void register(String consumer) {
        Objects.requireNonNull(consumer, "consumer");
    }

    @Override
    public Claim claim(ClaimRequest request) {
        Key key = new Key(request.key().consumer(), request.key().value());
        long left = request.busyWait().toNanos();
        lock.lock();
        try {
            while (holders.containsKey(key)) {
                if (left <= 0) {
                    return new Claim.Busy();
                }
                left = released.awaitNanos(left);
            }
            Marker marker = markers.get(key);
            if (marker != null) {
                return new Claim.Taken(request.withResult() ? marker : withoutResult(marker));
            }
            MemoryUnit unit = new MemoryUnit(this, key, request);
            holders.put(key, unit);
            return new Claim.Granted(unit);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return new Claim.Busy(); // nothing is known about the owner, so the message comes again
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Batch claimAll(List<ClaimRequest> requests) {
        Map<MarkerKey, Claim> refused = new LinkedHashMap<>();
        Map<MarkerKey, MemoryUnit> granted = new LinkedHashMap<>();
        lock.lock();
        try {
            for (ClaimRequest request : requests) {
                Key key = new Key(request.key().consumer(), request.key().value());
                Marker marker = markers.get(key);
                if (holders.containsKey(key)) {
                    refused.put(request.key(), new Claim.Busy());
                } else if (marker != null) {
                    refused.put(request.key(), new Claim.Taken(request.withResult() ? marker : withoutResult(marker)));
                } else {
                    MemoryUnit unit = new MemoryUnit(this, key, request);
                    holders.put(key, unit);
                    granted.put(request.key(), unit);
                }
            }
        } finally {
            lock.unlock();
        }
        return new MemoryBatch(this, granted, refused);
    }

    private static Marker withoutResult(Marker marker) {
        return new Marker(marker.readable(), marker.fingerprint(), marker.markedAt(), marker.claimId(), null);
    }

    /** Markers and release are one step under the lock, so nobody finds a key free and unmarked in between. */
    void commit(Map<MemoryUnit, Optional<StoredResult>> units) {
        lock.lock();
        try {
            for (MemoryUnit unit : units.keySet()) {
                if (holders.get(unit.key()) != unit) {
                    throw new TransientStoreException(
                            "The claim on " + unit.key() + " was given up before its commit", null);
                }
            }
            units.forEach((unit, result) -> {
                holders.remove(unit.key());
                markers.put(unit.key(), unit.marker(clock.instant(), result.orElse(null)));
            });
            released.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Does nothing to a unit that has ended. */
    void release(MemoryUnit unit) {
        lock.lock();
        try {
            if (holders.remove(unit.key(), unit)) {
                released.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean isTransient(Throwable failure) {
        return failure instanceof TransientStoreException;
    }

    /** Whether that consumer is done with the message of that id, taking the message id as key. */
    public boolean contains(String consumer, String id) {
        return contains(Consumer.of(consumer), Message.of(id, new byte[0]));
    }

    /** Whether that consumer is done with that message, taking whatever key the consumer takes. */
    public boolean contains(Consumer consumer, Message message) {
        return markedAt(consumer, message) != null;
    }

    /** When that consumer finished that message, or null if it has not. */
    public @Nullable Instant markedAt(Consumer consumer, Message message) {
        MarkerKey key = ConsumerPlan.of(consumer).keyOf(message).orElse(null);
        lock.lock();
        try {
            Marker marker = key == null ? null : markers.get(new Key(key.consumer(), key.value()));
            return marker == null ? null : marker.markedAt();
        } finally {
            lock.unlock();
        }
    }

    /** How many markers there are, of all consumers. */
    public int size() {
        lock.lock();
        try {
            return markers.size();
        } finally {
            lock.unlock();
        }
    }

    /** Forgets all markers. Claims that are held now stay held. */
    public void clear() {
        lock.lock();
        try {
            markers.clear();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until no claim is held, or until the time is up; true when none is. */
    public boolean awaitIdle(long timeout, TimeUnit unit) throws InterruptedException {
        long left = unit.toNanos(timeout);
        lock.lock();
        try {
            while (!holders.isEmpty() && left > 0) {
                left = released.awaitNanos(left);
            }
            return holders.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Keeps everything: several inboxes may share one store, and a test may look into it afterwards. */
    @Override
    public void close() {}

    /** What a relational store has as its primary key. */
    record Key(String consumer, UUID value) {
        @Override
        public String toString() {
            return consumer + "/" + value;
        }
    }
}
