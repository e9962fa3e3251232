package dev.idem.jms;

import dev.idem.broker.spi.KeyedExecutor;
import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.JMSRuntimeException;
import jakarta.jms.Message;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One connection, and the sessions over which a queue is received. A session belongs to one thread, so this thread also
 * settles: lanes and the publisher of copies say what is decided, through a queue.
 *
 * <p>Why nothing is lost: a message is reported as decided only when its effect is committed, or when the broker has
 * confirmed its dead letter or its copy; and only what is reported is settled. With {@link Acknowledging#INDIVIDUAL} each
 * message is acknowledged by itself. With {@link Acknowledging#TRANSACTED} a session is committed when everything that was
 * received over it is decided, and receives nothing meanwhile. If some of it must wait, the session rests, and another one
 * receives; there are at most {@value #MOST_SESSIONS}.
 *
 * <p>What a crash does: the broker delivers again whatever was not settled. What has had its effect is then a duplicate.
 * What had its letter or its copy out gets a second one; the inbox recognises copies, and letters that are replayed twice.
 */
final class Receiving implements AutoCloseable {
    static final int MOST_SESSIONS = 8;

    private static final Duration LOOK = Duration.ofMillis(250);
    private static final Duration QUIET_BEFORE_CLOSING = Duration.ofSeconds(1);

    private final JmsOptions options;
    private final KeyedExecutor<Taken> lanes;
    private final Settling settling;
    private final Reading reading;
    private final BooleanSupplier closing;
    private final AtomicLong settled;
    private final Connection connection;
    private final List<ReceivingSession> sessions = new ArrayList<>();
    private volatile @Nullable JMSException broken;
    private volatile boolean outOfSessions;
    private volatile int unsettled;
    private boolean full;

    Receiving(
            JmsOptions options,
            KeyedExecutor<Taken> lanes,
            Settling settling,
            Reading reading,
            BooleanSupplier closing,
            AtomicLong settled)
            throws JMSException {
        this.options = options;
        this.lanes = lanes;
        this.settling = settling;
        this.reading = reading;
        this.closing = closing;
        this.settled = settled;
        connection = options.factory().createConnection();
        try {
            connection.setExceptionListener(failure -> broken = failure);
            connection.start();
        } catch (JMSException | RuntimeException failure) {
            close();
            throw failure;
        }
    }

    /** Settles what is decided, and receives a batch if there is room for it; else waits a moment. */
    void step(boolean wanted) throws JMSException {
        JMSException failure = broken;
        if (failure != null) {
            throw failure;
        }
        settle(Duration.ZERO);
        full = full ? !lanes.isHalfEmpty() : lanes.isFull();
        ReceivingSession session = free();
        outOfSessions = session == null;
        if (!wanted) {
            rest();
        }
        if (session == null || !wanted || full || lanes.isStoreAway()) {
            settle(LOOK);
            return;
        }
        List<KeyedExecutor.Delivery<Taken>> batch = take(session);
        if (!batch.isEmpty()) {
            lanes.add(batch);
            await(session, session.undecided() - batch.size());
        }
    }

    /** The session that receives now, or else another one; null if none may. */
    private @Nullable ReceivingSession free() throws JMSException {
        ReceivingSession free = null;
        for (ReceivingSession session : sessions) {
            if (!session.isBlocked() && (free == null || session.isReceiving())) {
                free = session;
            }
        }
        if (free == null && sessions.size() < MOST_SESSIONS) {
            free = new ReceivingSession(connection, options.queue(), options.acknowledging());
            sessions.add(free);
        }
        return free;
    }

    /** Waits a moment for one, and then takes what is there and has room. */
    private List<KeyedExecutor.Delivery<Taken>> take(ReceivingSession session) throws JMSException {
        List<KeyedExecutor.Delivery<Taken>> batch = new ArrayList<>();
        int count = lanes.pending();
        long bytes = lanes.pendingBytes();
        Message next = session.receive(LOOK.toMillis());
        while (next != null) {
            KeyedExecutor.Delivery<Taken> delivery = reading.read(next, session);
            batch.add(delivery);
            bytes += delivery.message().size();
            boolean room = batch.size() < options.batch()
                    && count + batch.size() < options.common().maxPending()
                    && bytes < options.common().maxPendingBytes();
            next = room ? session.receive(0) : null;
        }
        count();
        return batch;
    }

    /** Until the batch is decided. If nothing more is decided for a moment, something waits, and the next may be received. */
    private void await(ReceivingSession session, int before) throws JMSException {
        boolean going = true;
        while (going && session.undecided() > before && !closing.getAsBoolean()) {
            going = settle(LOOK);
        }
        if (session.isBlocked()) {
            session.rest();
        }
    }

    /** Answers whether something was decided, within this time. */
    boolean settle(Duration longest) throws JMSException {
        Taken taken = settling.next(longest);
        boolean some = taken != null;
        while (taken != null) {
            if (sessions.contains(taken.session())) { // else it came over an older connection, and comes again
                settled.addAndGet(taken.session().decided(taken));
            }
            taken = settling.next(Duration.ZERO);
        }
        count();
        return some;
    }

    private void count() {
        unsettled = sessions.stream().mapToInt(ReceivingSession::unsettled).sum();
    }

    private void rest() throws JMSException {
        for (ReceivingSession session : sessions) {
            session.rest();
        }
    }

    /** Receives nothing more, and finishes transactions whose messages go on being decided. */
    void drain(long deadline) throws JMSException {
        rest();
        boolean going = true;
        while (going && sessions.stream().anyMatch(ReceivingSession::isBlocked) && System.nanoTime() - deadline < 0) {
            going = settle(QUIET_BEFORE_CLOSING);
        }
    }

    int unsettled() {
        return unsettled;
    }

    boolean isOutOfSessions() {
        return outOfSessions;
    }

    /** What is not settled is the broker's again. */
    @Override
    public void close() {
        try {
            connection.close();
        } catch (JMSException | JMSRuntimeException gone) {
            // as intended
        }
    }
}
