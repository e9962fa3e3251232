package dev.idem.internal.key;

import dev.idem.spi.MarkerKey;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets one delivery of a key at a time go to the store; its twins in this process wait here, where they hold no
 * connection, so a hot key cannot exhaust the pool for other keys. Only an optimisation: exclusion between processes, and
 * safety everywhere, is the store's.
 */
public final class KeyGate {
    private final ConcurrentMap<MarkerKey, Slot> slots = new ConcurrentHashMap<>();

    /** Enters, or gives up after the wait; an empty answer means that a twin is still running. */
    public Optional<Pass> enter(MarkerKey key, Duration wait) {
        Slot slot = slots.compute(key, (k, found) -> (found == null ? new Slot() : found).visit());
        boolean entered = false;
        try {
            entered = slot.lock.tryLock() || slot.lock.tryLock(wait.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt(); // answered as busy: the message comes again
        } finally {
            if (!entered) {
                leave(key);
            }
        }
        return entered ? Optional.of(new Pass(key, slot)) : Optional.empty();
    }

    /** Enters without waiting. Most keys have no twin, so a slot is offered before one is looked for. */
    public Optional<Pass> enterNow(MarkerKey key) {
        Slot mine = new Slot().visit();
        mine.lock.lock();
        return slots.putIfAbsent(key, mine) == null ? Optional.of(new Pass(key, mine)) : enter(key, Duration.ZERO);
    }

    private void leave(MarkerKey key) {
        slots.computeIfPresent(key, (k, slot) -> slot.leave());
    }

    int size() {
        return slots.size();
    }

    /** The right to go on; closing it lets the next twin in. */
    public final class Pass {
        private final MarkerKey key;
        private final Slot slot;

        private Pass(MarkerKey key, Slot slot) {
            this.key = key;
            this.slot = slot;
        }

        public void close() {
            slot.lock.unlock();
            leave(key);
        }
    }

    /** Counted inside {@code compute}, which is atomic for a key; removed with its last visitor. */
    private static final class Slot {
        private final ReentrantLock lock = new ReentrantLock();
        private int visitors;

        private Slot visit() {
            visitors++;
            return this;
        }

        @SuppressWarnings("NullAway") // null removes the entry
        private Slot leave() {
            visitors--;
            return visitors == 0 ? null : this;
        }
    }
}
