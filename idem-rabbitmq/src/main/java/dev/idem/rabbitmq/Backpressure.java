package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.TrafficListener;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongPredicate;

/**
 * Stops reading from a connection while too many bytes are here: when messages are suddenly large, those that the broker has
 * sent ahead stay in its socket. It listens on the thread that reads, which is the client's only place for this. One for each
 * connection. Thread-safe.
 */
final class Backpressure implements TrafficListener {
    private static final long LOOK_MILLIS = 10;

    private final TrafficListener next;
    private final LongPredicate full;
    private final AtomicLong unhandled = new AtomicLong();
    private volatile boolean blocking;
    private volatile boolean ended;

    /**
     * @param next the user's own listener, which hears everything too
     * @param full whether so many bytes, that were read and not handed over yet, are too many
     */
    Backpressure(TrafficListener next, LongPredicate full) {
        this.next = next;
        this.full = full;
    }

    @Override
    public void write(Command command) {
        next.write(command);
    }

    @Override
    public void read(Command command) {
        next.read(command);
        if (command.getMethod() instanceof AMQP.Basic.Deliver) {
            unhandled.addAndGet(command.getContentBody().length);
            await();
        }
    }

    private void await() {
        try {
            while (!ended && full.test(unhandled.get())) {
                blocking = true;
                Thread.sleep(LOOK_MILLIS);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        } finally {
            blocking = false;
        }
    }

    /** So many of the bytes are the listener's now. */
    void handed(int bytes) {
        unhandled.addAndGet(-bytes);
    }

    /** Whether it does not read now: then the broker's answers are not read either. */
    boolean isBlocking() {
        return blocking;
    }

    /** Reads on, because the connection is about to be closed. */
    void end() {
        ended = true;
    }
}
