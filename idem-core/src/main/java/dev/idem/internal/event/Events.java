package dev.idem.internal.event;

import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.internal.consumer.ConsumerPlan;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries events to the listeners on a thread of its own, so that nothing a listener does can change an outcome. The
 * queue is bounded: behind a listener that blocks, events are counted as lost and the messages flow on.
 */
public final class Events implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Inbox.class);
    private static final int CAPACITY = 8192;
    private static final long CLOSE_MILLIS = 2_000;

    private final List<InboxListener> listeners;
    private final BlockingQueue<Consumer<InboxListener>> queue = new ArrayBlockingQueue<>(CAPACITY);
    private final AtomicLong lost = new AtomicLong();
    private final AtomicBoolean warned = new AtomicBoolean();
    private final Thread thread;
    private final IncidentReports incidents = new IncidentReports();
    private volatile boolean closed;

    public Events(List<InboxListener> listeners) {
        this.listeners = List.copyOf(listeners);
        this.thread = new Thread(this::deliver, "idem-events");
        thread.setDaemon(true);
        if (!this.listeners.isEmpty()) {
            thread.start();
        }
    }

    /** What a person must hear of; told at once and not on the thread of the listeners, so that no line is lost. */
    public IncidentReports incidents() {
        return incidents;
    }

    public void tell(Consumer<InboxListener> event) {
        if (!listeners.isEmpty() && !queue.offer(event)) {
            lost.incrementAndGet();
        }
    }

    /** Whether anybody wants to know how deliveries end. */
    public boolean isHeard() {
        return !listeners.isEmpty() || log.isDebugEnabled();
    }

    /** The same, and what a person must hear of it: for a delivery whose caller is told the outcome, and not an exception. */
    public void answered(ConsumerPlan consumer, Message message, Outcome<?> outcome) {
        settled(consumer, message, outcome, 0, Duration.ZERO, Duration.ZERO);
        incidents.settled(consumer, message, outcome);
    }

    /** The one event that every delivery ends with, whichever way it took. */
    public void settled(
            ConsumerPlan consumer, Message message, Outcome<?> outcome, int runs, Duration handling, Duration total) {
        log.debug("{}: {} is {}", consumer.name(), message, wordsFor(outcome));
        if (listeners.isEmpty()) {
            return;
        }
        InboxListener.Delivery delivery = new InboxListener.Delivery(
                consumer.name(), consumer.typeLabel(message), outcome, runs, handling, total, message.eventTime());
        tell(listener -> listener.settled(delivery));
    }

    private static String wordsFor(Outcome<?> outcome) {
        String name = outcome.getClass().getSimpleName();
        return outcome instanceof Outcome.Duplicate<?> duplicate ? name + " (" + duplicate.state() + ")" : name;
    }

    private void deliver() {
        while (!closed || !queue.isEmpty()) {
            try {
                Consumer<InboxListener> event = queue.poll(100, TimeUnit.MILLISECONDS);
                if (event != null) {
                    deliver(event);
                    long missed = lost.getAndSet(0);
                    if (missed > 0) {
                        deliver(listener -> listener.eventsLost(missed));
                    }
                }
            } catch (InterruptedException stop) {
                return; // close() gave up waiting for a listener that blocks
            }
        }
    }

    @SuppressWarnings("CatchAndPrintStackTrace")
    private void deliver(Consumer<InboxListener> event) {
        for (InboxListener listener : listeners) {
            try {
                event.accept(listener);
            } catch (Throwable failure) { // also an Error of a listener is none of the message's business
                if (warned.compareAndSet(false, true)) {
                    log.warn("Listener {} failed; further failures are logged at DEBUG", listener, failure);
                } else {
                    log.debug("Listener {} failed", listener, failure);
                }
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        queue.offer(listener -> {}); // wakes the thread, which would otherwise wait for its poll to end
        try {
            thread.join(CLOSE_MILLIS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        incidents.close();
        queue.clear(); // a listener that swallows the interrupt must not be given the rest one by one
        thread.interrupt();
    }
}
