package dev.idem.test.fault;

import static java.util.Objects.requireNonNull;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A clock that stands still until told to move. Clocks derived from it by {@link #withZone} show the same time.
 * Thread-safe.
 */
public final class SettableClock extends Clock {
    private final AtomicReference<Instant> now;
    private final ZoneId zone;

    private SettableClock(AtomicReference<Instant> now, ZoneId zone) {
        this.now = now;
        this.zone = requireNonNull(zone, "zone");
    }

    /** A clock in UTC that shows the given time. */
    public static SettableClock at(Instant start) {
        return new SettableClock(new AtomicReference<>(requireNonNull(start, "start")), ZoneOffset.UTC);
    }

    /**
     * Moves forward and returns the new time.
     *
     * @throws IllegalArgumentException if the step is negative; to go back, {@link #set} the time
     */
    public Instant advance(Duration step) {
        if (step.isNegative()) {
            throw new IllegalArgumentException("Cannot advance by " + step + "; to go back, set the time");
        }
        return now.updateAndGet(time -> time.plus(step));
    }

    /** Jumps to the given time, forward or back. */
    public void set(Instant time) {
        now.set(requireNonNull(time, "time"));
    }

    @Override
    public Instant instant() {
        return requireNonNull(now.get());
    }

    @Override
    public ZoneId getZone() {
        return zone;
    }

    @Override
    public SettableClock withZone(ZoneId other) {
        return new SettableClock(now, other);
    }

    @Override
    public String toString() {
        return "SettableClock[" + now.get() + ", " + zone + "]";
    }
}
