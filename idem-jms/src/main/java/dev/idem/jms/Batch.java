package dev.idem.jms;

import dev.idem.Outcome;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.Pace;
import dev.idem.broker.Triage;
import dev.idem.broker.Triage.Decision;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Takes what a session has received through the inbox, and settles it when all of it is decided. While the store does not
 * answer, the messages stay in the session: given back, they would use up the deliveries that the broker allows.
 */
final class Batch {
    private final JmsInbox.Builder options;
    private final CountDownLatch stopped;
    private final Triage triage;
    private final Pace store;
    private final Incoming incoming;

    Batch(JmsInbox.Builder options, CountDownLatch stopped) {
        this.options = options;
        this.stopped = stopped;
        triage = new Triage(options.consumer, options.retry);
        store = new Pace(options.consumer.name() + " at its store");
        incoming = new Incoming(options.attributes, options.idOfBroker);
    }

    /** One message on its way. */
    private static final class Delivery {
        final Message origin;
        final dev.idem.Message message;
        int failures;

        Delivery(Message origin, dev.idem.Message message, int failures) {
            this.origin = origin;
            this.message = message;
            this.failures = failures;
        }
    }

    boolean isWaiting() {
        return store.isWaiting();
    }

    /** False if it was told to stop first: then the broker has all of them again that were not settled. */
    boolean settle(Session session, Outgoing outgoing, List<Message> received) throws JMSException {
        List<Delivery> open = new ArrayList<>();
        for (Message message : received) {
            open.add(new Delivery(message, incoming.read(message), incoming.failures(message)));
        }
        boolean individually = options.acknowledging == Acknowledging.INDIVIDUAL;
        while (!open.isEmpty()) {
            Duration pause = round(outgoing, open, individually);
            if (!open.isEmpty() && isStopped(pause)) {
                if (!individually) {
                    session.rollback();
                }
                return false;
            }
        }
        if (!individually) {
            session.commit();
        }
        return true;
    }

    /** An interrupt that a handler has left behind only shortens the pause. */
    private boolean isStopped(Duration pause) {
        try {
            return stopped.await(pause.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException leftBehind) {
            return stopped.getCount() == 0;
        }
    }

    /** One way through the inbox; what is decided leaves the list. Answers how long to wait before the next. */
    private Duration round(Outgoing outgoing, List<Delivery> open, boolean individually) throws JMSException {
        List<Outcome<?>> outcomes = options.inbox.acceptAll(
                options.consumer,
                open.stream().map(delivery -> delivery.message).toList());
        List<Delivery> again = new ArrayList<>();
        Duration pause = Duration.ZERO;
        Throwable outage = null;
        for (int i = 0; i < open.size(); i++) {
            Delivery delivery = open.get(i);
            Decision decision =
                    triage.orPark(triage.decide(outcomes.get(i), delivery.failures), delivery.message, options.inbox);
            if (decision instanceof Decision.Wait wait) {
                outage = wait.cause();
                again.add(delivery);
            } else if (decision instanceof Decision.TryAgain later && options.keepsOrder) {
                delivery.failures = later.failures();
                pause = pause.compareTo(later.delay()) < 0 ? later.delay() : pause;
                again.add(delivery);
            } else {
                publish(outgoing, delivery, decision);
                if (individually) {
                    delivery.origin.acknowledge();
                }
            }
        }
        if (outage == null) {
            store.succeeded();
        } else {
            store.failed(outage);
        }
        open.clear();
        open.addAll(again);
        return store.isWaiting() ? store.left() : pause;
    }

    private static void publish(Outgoing outgoing, Delivery delivery, Decision decision) throws JMSException {
        if (decision instanceof Decision.SetAside aside) {
            DeadLetter letter = aside.letter();
            outgoing.setAside(delivery.origin, delivery.message, letter);
        } else if (decision instanceof Decision.TryAgain later) {
            outgoing.postpone(delivery.origin, delivery.message, later.delay(), later.failures());
        }
    }
}
