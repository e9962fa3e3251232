package dev.idem.test;

import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Outcome;
import dev.idem.Settlement;
import dev.idem.spi.FaultHook;
import dev.idem.spi.MarkerStore;
import dev.idem.test.IdempotencyTest.Delivery;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The service under test as one process of it: an inbox, its handlers, and a broker that delivers until it is told to stop. */
final class ServiceProcess implements AutoCloseable {
    private static final int DELIVERIES = 30;

    /** Does nothing, but is a hook of a test. */
    private static final FaultHook QUIET = (step, key) -> {};

    private final Inbox inbox;
    private final List<Delivery> deliveries;
    private final AtomicBoolean unused = new AtomicBoolean();

    ServiceProcess(MarkerStore store, FaultHook steps, List<Delivery> deliveries) {
        this.deliveries = deliveries;
        this.inbox = Inbox.builder(store)
                .steps(steps == FaultHook.NONE ? QUIET : steps)
                .listener(new InboxListener() {
                    @Override
                    public void transactionUnused(String consumer) {
                        unused.set(true);
                    }
                })
                .build();
    }

    /** Delivers once, whatever comes of it. */
    void deliverOnce(int index) {
        Throwable ignored = attempt(index);
        if (ignored instanceof NotAcknowledged setAside && setAside.forGood) {
            throw setAside;
        }
    }

    /** Delivers until it is acknowledged. */
    void deliver(int index) {
        Throwable failure = null;
        for (int i = 0; i < DELIVERIES; i++) {
            failure = attempt(index);
            if (failure == null) {
                return;
            }
            if (failure instanceof NotAcknowledged setAside && setAside.forGood) {
                break;
            }
        }
        throw failure instanceof NotAcknowledged refused
                ? refused
                : new NotAcknowledged(
                        index, "failed " + DELIVERIES + " times, at last with " + failure, false, failure);
    }

    void deliverAll() {
        for (int i = 0; i < deliveries.size(); i++) {
            deliver(i);
        }
    }

    /** What kept it from being acknowledged, or null. */
    private @Nullable Throwable attempt(int index) {
        Outcome<?> outcome;
        try {
            outcome = deliveries.get(index).to(inbox);
        } catch (Exception | Error failure) {
            return failure; // what a broker does not see it does not acknowledge
        }
        if (outcome.settlement() == Settlement.ACK) {
            return null;
        }
        Throwable cause = outcome instanceof Outcome.Failed<?> failed ? failed.cause() : null;
        return new NotAcknowledged(index, "ended as " + outcome, outcome.settlement() == Settlement.DEAD_LETTER, cause);
    }

    /** Whether the handler was seen to send nothing through its transaction; known for certain only after the close. */
    boolean leftTransactionUnused() {
        return unused.get();
    }

    @Override
    public void close() {
        inbox.close();
    }

    /** A message that the service did not get done. */
    static final class NotAcknowledged extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final boolean forGood;

        NotAcknowledged(int index, String what, boolean forGood, @Nullable Throwable cause) {
            super("message " + (index + 1) + " was not acknowledged: it " + what, cause);
            this.forGood = forGood;
        }
    }
}
