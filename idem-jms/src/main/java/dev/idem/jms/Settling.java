package dev.idem.jms;

import dev.idem.Message;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.spi.Settler;
import jakarta.jms.JMSException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What is decided, on its way from the lanes to the receiving thread: a session belongs to one thread. Copies are sent
 * before. Thread-safe.
 */
final class Settling implements Settler<Taken> {
    private final Outgoing outgoing;
    private final boolean keepsOrder;
    private final BlockingQueue<Taken> decided = new LinkedBlockingQueue<>();

    Settling(Outgoing outgoing, boolean keepsOrder) {
        this.outgoing = outgoing;
        this.keepsOrder = keepsOrder;
    }

    /** The next that is done; waits so long for it. An interrupt that was left behind only shortens the waiting. */
    @Nullable
    Taken next(Duration longest) {
        try {
            return decided.poll(longest.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException leftBehind) {
            return decided.poll();
        }
    }

    @Override
    public void acknowledge(Taken delivery) {
        decided.add(delivery);
    }

    @Override
    public void setAside(Taken delivery, Message message, DeadLetter letter) throws JMSException {
        outgoing.setAside(delivery, message, letter);
        decided.add(delivery);
    }

    @Override
    public boolean canPostpone(Duration delay) {
        return !keepsOrder;
    }

    @Override
    public void postpone(Taken delivery, Message message, Duration delay, int failures) throws JMSException {
        outgoing.postpone(delivery, message, delay, failures);
        decided.add(delivery);
    }
}
