package dev.idem.jms;

import dev.idem.Header;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.spi.Seal;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.JMSException;
import jakarta.jms.JMSRuntimeException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Publishes dead letters, and copies for later, over a connection of its own. When a method returns, the broker has the
 * message. Used by one thread, but {@link #abortIfStuck} and {@link #close} by others.
 */
final class Outgoing {
    /** Names a letter among others. */
    static final String LETTER = "idem_letter";

    private static final long LONGEST_NANOS = Duration.ofSeconds(10).toNanos();

    private final JmsOptions options;
    private final Supplier<Seal> seal;
    private volatile @Nullable Link link;

    Outgoing(JmsOptions options, Supplier<Seal> seal) {
        this.options = options;
        this.seal = seal;
    }

    /** A connection, and since when it has been sending; zero if it is not. */
    private static final class Link {
        final Connection connection;
        final Session session;
        final MessageProducer producer;
        volatile long since;
        volatile boolean aborted;

        Link(Connection connection, Acknowledging acknowledging) throws JMSException {
            this.connection = connection;
            boolean transacted = acknowledging == Acknowledging.TRANSACTED;
            session = connection.createSession(transacted ? Session.SESSION_TRANSACTED : Session.AUTO_ACKNOWLEDGE);
            producer = session.createProducer(null);
            producer.setDeliveryMode(DeliveryMode.PERSISTENT);
        }
    }

    @FunctionalInterface
    private interface Making {
        Message in(Session session) throws JMSException;
    }

    /** The letter carries what a replayed copy of it needs, sealed: the queue does not believe anything else. */
    void setAside(Taken taken, dev.idem.Message message, DeadLetter letter) throws JMSException {
        List<Header> ours =
                new ArrayList<>(letter.from(Map.of("queue", options.queue())).ours(message));
        ours.addAll(sealed(identity(taken, message), taken));
        send(
                options.deadLetters(),
                Duration.ZERO,
                taken.origin().getJMSPriority(),
                session -> JmsMessages.letter(session, taken.origin(), ours));
    }

    void postpone(Taken taken, dev.idem.Message message, Duration delay, int failures) throws JMSException {
        List<Header> ours = identity(taken, message);
        ours.add(new Header(Reading.FAILURES, Integer.toString(failures)));
        List<Header> sealed = sealed(ours, taken);
        send(
                options.queue(),
                delay,
                taken.origin().getJMSPriority(),
                session -> Copy.of(session, taken.origin(), sealed));
    }

    private static List<Header> identity(Taken taken, dev.idem.Message message) {
        List<Header> ours = new ArrayList<>(Identity.of(message));
        if (taken.firstId() != null) {
            ours.add(new Header(Reading.FIRST_ID, taken.firstId()));
        }
        return ours;
    }

    private List<Header> sealed(List<Header> ours, Taken taken) throws JMSException {
        return seal.get().sealed(ours, Incoming.payload(taken.origin()));
    }

    private void send(String queue, Duration delay, int priority, Making making) throws JMSException {
        Link current = null;
        try {
            current = connected();
            current.since = System.nanoTime() | 1;
            Message copy = making.in(current.session);
            current.producer.setDeliveryDelay(delay.toMillis());
            current.producer.setPriority(priority);
            current.producer.send(current.session.createQueue(queue), copy);
            if (current.session.getTransacted()) {
                current.session.commit();
            }
            current.since = 0;
        } catch (JMSException | RuntimeException failure) {
            disconnect();
            if (current != null && current.aborted) {
                throw new JMSException("The broker has not taken a message for queue " + queue + " for "
                        + Duration.ofNanos(LONGEST_NANOS).toSeconds()
                        + " s: the queue, or the broker's disk, may be full");
            }
            throw failure;
        }
    }

    private Link connected() throws JMSException {
        Link current = link;
        if (current == null) {
            Connection connection = options.factory().createConnection();
            try {
                current = new Link(connection, options.acknowledging());
            } catch (JMSException | RuntimeException failure) {
                connection.close();
                throw failure;
            }
            link = current;
        }
        return current;
    }

    /** Some brokers do not refuse what they have no room for: their clients wait. Then others could not be sent either. */
    void abortIfStuck() {
        Link current = link;
        long since = current == null ? 0 : current.since;
        if (current != null && since != 0 && !current.aborted && System.nanoTime() - since > LONGEST_NANOS) {
            current.aborted = true;
            Thread closer = options.common().worker(() -> close(current));
            closer.setName(options.name() + "-abort");
            closer.start();
        }
    }

    private void disconnect() {
        Link old = link;
        link = null;
        if (old != null) {
            close(old);
        }
    }

    private static void close(Link old) {
        try {
            old.connection.close();
        } catch (JMSException | JMSRuntimeException gone) {
            // as intended
        }
    }

    void close() {
        disconnect();
    }
}
