package dev.idem.jms;

import dev.idem.broker.ListenerState;
import dev.idem.broker.Pace;
import jakarta.jms.Connection;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSException;
import jakarta.jms.JMSSecurityException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread with one session at a time. A connection that breaks is replaced by a new one; what was taken over the old one
 * and not settled is the broker's again, and comes back as a duplicate or as new.
 */
final class SessionLoop implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(JmsListener.class);
    private static final long LOOK_MILLIS = 250;

    private final JmsInbox.Builder options;
    private final Pace broker;
    private final Batch batch;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private volatile boolean connected;
    private volatile boolean failed;
    private final AtomicLong settled = new AtomicLong();

    SessionLoop(JmsInbox.Builder options) {
        this.options = options;
        broker = new Pace(options.consumer.name() + " at queue " + options.queue);
        batch = new Batch(options, stopped);
    }

    ListenerState state() {
        if (failed) {
            return ListenerState.FAILED;
        }
        if (broker.isWaiting() || batch.isWaiting()) {
            return ListenerState.WAITING;
        }
        return connected ? ListenerState.RUNNING : ListenerState.STARTING;
    }

    long settled() {
        return settled.get();
    }

    void stop() {
        stopped.countDown();
    }

    @Override
    public void run() {
        try {
            while (!isStopped()) {
                listen();
            }
        } catch (RuntimeException | Error fatal) {
            failed = true;
            log.error("{}: the listener has died; build a new one when the cause is mended", options.queue, fatal);
        }
    }

    /** Waits while the broker is given time. An interrupt that a handler has left behind ends nothing. */
    private boolean isStopped() {
        try {
            return stopped.await(broker.left().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException leftBehind) {
            return stopped.getCount() == 0;
        }
    }

    /** Until the connection breaks, or it is time to stop. */
    private void listen() {
        try (Connection connection = options.factory.createConnection();
                Session session = connection.createSession(options.acknowledging.mode());
                MessageConsumer consumer = session.createConsumer(session.createQueue(options.queue));
                Outgoing outgoing = new Outgoing(session, options)) {
            connection.start();
            while (stopped.getCount() > 0) {
                if (Thread.interrupted()) {
                    log.debug("{}: a handler has left an interrupt behind", options.queue);
                }
                List<Message> messages = take(consumer);
                connected = true;
                broker.succeeded();
                if (!messages.isEmpty() && batch.settle(session, outgoing, messages)) {
                    settled.addAndGet(messages.size());
                }
            }
        } catch (JMSSecurityException | InvalidDestinationException refused) {
            failed = true;
            log.error(
                    "{}: the broker refuses ({}). Grant the user what it needs: consume from {}, and produce to it and to {};"
                            + " then build a new listener",
                    options.queue,
                    refused.getMessage(),
                    options.queue,
                    options.deadLetters);
            stop();
        } catch (JMSException | jakarta.jms.JMSRuntimeException broken) {
            if (stopped.getCount() > 0) {
                broker.failed(broken);
            }
        }
    }

    /** Waits a moment for one, and then takes what is there. */
    private List<Message> take(MessageConsumer consumer) throws JMSException {
        List<Message> messages = new ArrayList<>();
        Message next = consumer.receive(LOOK_MILLIS);
        while (next != null) {
            messages.add(next);
            next = messages.size() < options.batch ? consumer.receiveNoWait() : null;
        }
        return messages;
    }
}
