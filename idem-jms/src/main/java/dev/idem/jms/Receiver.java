package dev.idem.jms;

import dev.idem.broker.Waiting;
import dev.idem.broker.spi.KeyedExecutor;
import dev.idem.broker.spi.Pace;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.InvalidDestinationRuntimeException;
import jakarta.jms.JMSException;
import jakarta.jms.JMSRuntimeException;
import jakarta.jms.JMSSecurityException;
import jakarta.jms.JMSSecurityRuntimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that receives. A connection that breaks is replaced by a new one; what was received over the old one and not
 * settled is the broker's again, and comes back as a duplicate or as new.
 */
final class Receiver implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(JmsInboxListener.class);

    private final JmsOptions options;
    private final KeyedExecutor<Taken> lanes;
    private final Settling settling;
    private final Outgoing outgoing;
    private final LazySeal seal;
    private final Pace store;
    private final Pace broker;
    private final Pace queue;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final AtomicLong settled;
    private volatile boolean wanted = true;
    private volatile boolean connected;
    private volatile boolean ended;
    private volatile long deadline;
    private volatile @Nullable Throwable failure;
    private volatile @Nullable Receiving receiving;
    private volatile @Nullable Instant outOfSessions;

    Receiver(
            JmsOptions options,
            KeyedExecutor<Taken> lanes,
            Settling settling,
            Outgoing outgoing,
            LazySeal seal,
            AtomicLong settled) {
        this.options = options;
        this.lanes = lanes;
        this.settling = settling;
        this.outgoing = outgoing;
        this.seal = seal;
        this.settled = settled;
        store = Pace.ofStore(options.name());
        broker = Pace.ofBroker(options.name(), "the broker");
        queue = Pace.ofBroker(options.name(), "queue " + options.queue());
    }

    @Override
    public void run() {
        try {
            while (!isStopped()) {
                listen();
            }
        } catch (Throwable fatal) {
            failed(fatal);
        } finally {
            lanes.close(left());
            outgoing.close();
            ended = true;
        }
    }

    /** Waits while the store or the broker is given time. An interrupt that was left behind ends nothing. */
    private boolean isStopped() {
        long pause = Math.max(
                store.left().toNanos(),
                Math.max(broker.left().toNanos(), queue.left().toNanos()));
        try {
            return stopped.await(pause, TimeUnit.NANOSECONDS);
        } catch (InterruptedException leftBehind) {
            return isClosing();
        }
    }

    /** Until the connection breaks, or it is time to stop. */
    private void listen() {
        Reading reading;
        try {
            reading = new Reading(options.common().reader(), seal.get(), options.idOfBroker());
            store.succeeded();
        } catch (RuntimeException unanswered) {
            store.failed(unanswered);
            return;
        }
        try (Receiving current = new Receiving(options, lanes, settling, reading, this::isClosing, settled)) {
            receiving = current;
            broker.succeeded();
            while (!isClosing()) {
                step(current);
            }
            current.drain(deadline);
            lanes.close(left());
            current.settle(Duration.ZERO);
        } catch (JMSSecurityException | JMSSecurityRuntimeException refusal) {
            refused(refusal);
        } catch (InvalidDestinationException | InvalidDestinationRuntimeException absent) {
            queue.failed(absent);
        } catch (JMSException | JMSRuntimeException broken) {
            if (!isClosing()) {
                broker.failed(broken);
            }
        } finally {
            receiving = null;
            outOfSessions = null;
            lanes.forget(taken -> true, Duration.ZERO);
        }
    }

    private void step(Receiving current) throws JMSException {
        Optional<Throwable> died = lanes.failure();
        if (died.isPresent()) {
            throw new IllegalStateException("A lane has died", died.get());
        }
        outgoing.abortIfStuck();
        current.step(wanted);
        queue.succeeded();
        connected = true;
        if (!current.isOutOfSessions()) {
            outOfSessions = null;
        } else if (outOfSessions == null) {
            outOfSessions = Instant.now();
        }
    }

    private void failed(Throwable cause) {
        failure = cause;
        log.error("{}: the listener has failed; restart it when the cause is mended", options.name(), cause);
        stop(options.common().drain());
    }

    /** A right can be granted, and a user made known, while this waits. */
    private void refused(Exception cause) {
        broker.failed(
                cause,
                cause.getMessage() + ": the user must be known, and allowed to consume from " + options.queue()
                        + ", and to produce to it and to " + options.deadLetters());
    }

    void taking(boolean value) {
        wanted = value;
    }

    void stop(Duration longest) {
        deadline = System.nanoTime() + longest.toNanos();
        stopped.countDown();
    }

    private Duration left() {
        return Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
    }

    boolean isClosing() {
        return stopped.getCount() == 0;
    }

    boolean hasEnded() {
        return ended;
    }

    boolean isConnected() {
        return connected;
    }

    int unsettled() {
        Receiving current = receiving;
        return current == null ? 0 : current.unsettled();
    }

    Optional<Throwable> failure() {
        return Optional.ofNullable(failure);
    }

    Optional<Waiting> waiting() {
        return broker.waiting()
                .or(queue::waiting)
                .or(store::waiting)
                .or(lanes::waiting)
                .or(this::sessions);
    }

    private Optional<Waiting> sessions() {
        return Optional.ofNullable(outOfSessions)
                .map(since -> new Waiting(
                        "messages that come again",
                        since,
                        "all " + Receiving.MOST_SESSIONS + " sessions hold messages that must come again before the"
                                + " transaction can be committed"));
    }
}
