package dev.idem.jms;

import jakarta.jms.Connection;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSException;
import jakarta.jms.JMSSecurityException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import org.jspecify.annotations.Nullable;

/**
 * A session and what was received over it. With transactions, everything since the last commit is committed when all of it
 * is decided; else each message is acknowledged by itself. Used by the receiving thread only.
 */
final class ReceivingSession {
    private final Session session;
    private final String queue;
    private final boolean transacted;
    private @Nullable MessageConsumer consumer;
    private int undecided;
    private int received;

    ReceivingSession(Connection connection, String queue, Acknowledging acknowledging) throws JMSException {
        session = connection.createSession(acknowledging.mode());
        this.queue = queue;
        transacted = acknowledging == Acknowledging.TRANSACTED;
    }

    /** Waits a while for a message; not at all for zero. */
    @Nullable
    Message receive(long millis) throws JMSException {
        MessageConsumer open = opened();
        Message message = millis > 0 ? open.receive(millis) : open.receiveNoWait();
        if (message != null) {
            received++;
            undecided++;
        }
        return message;
    }

    private MessageConsumer opened() throws JMSException {
        MessageConsumer open = consumer;
        if (open == null) {
            open = open();
            consumer = open;
        }
        return open;
    }

    /** Not all providers say of a queue that is not there that it is the destination. */
    private MessageConsumer open() throws JMSException {
        try {
            return session.createConsumer(session.createQueue(queue));
        } catch (JMSSecurityException | InvalidDestinationException clear) {
            throw clear;
        } catch (JMSException failure) {
            InvalidDestinationException absent = new InvalidDestinationException(failure.getMessage());
            absent.initCause(failure);
            throw absent;
        }
    }

    /** Receives nothing more for now. What the client has fetched ahead goes back, so that others get it. */
    void rest() throws JMSException {
        MessageConsumer open = consumer;
        consumer = null;
        if (open != null) {
            open.close();
        }
    }

    boolean isReceiving() {
        return consumer != null;
    }

    /** Whether something is not decided yet that a further message would have to wait for. */
    boolean isBlocked() {
        return transacted && undecided > 0;
    }

    int undecided() {
        return undecided;
    }

    /** How many messages were received and not settled. */
    int unsettled() {
        return received;
    }

    /** This message is done. Answers how many are settled by that. */
    int decided(Taken taken) throws JMSException {
        undecided--;
        if (!transacted) {
            taken.origin().acknowledge();
            received--;
            return 1;
        }
        if (undecided > 0) {
            return 0;
        }
        session.commit();
        int settled = received;
        received = 0;
        return settled;
    }
}
