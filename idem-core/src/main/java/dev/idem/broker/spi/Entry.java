package dev.idem.broker.spi;

import dev.idem.broker.DeadLetter;
import dev.idem.broker.spi.KeyedExecutor.Delivery;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A delivery in a lane. Lane and publisher hand it to each other under their locks; it belongs to the one that has it.
 *
 * @param <D> a delivery, as the broker's client has it
 */
final class Entry<D> {
    final Delivery<D> delivery;

    /** What keeps its order among its like. */
    final Object order;

    final long bytes;
    int failures;
    int waits;

    /** Whether it is in the lane's sums; guarded by the lane. */
    boolean counted;

    /** The broker has taken it back, so nothing may be published or handled any more. */
    volatile boolean forgotten;

    /** Decided, but not published yet. */
    @Nullable
    DeadLetter letter;

    /** The publisher has it; guarded by the lane. */
    boolean publishing;

    /** The letter is out; only the mark must still pass it. */
    boolean letterIsOut;

    /** When it comes again, if the broker is to keep it until then. */
    Duration postponed = Duration.ZERO;

    Entry(Delivery<D> delivery, Object order) {
        this.delivery = delivery;
        this.order = order;
        bytes = delivery.message().size();
        failures = delivery.failures();
    }
}
