package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.ConfirmListener;
import com.rabbitmq.client.ReturnListener;
import java.io.IOException;
import java.util.function.BooleanSupplier;

/** What the broker says about one message that was published. It answers on a thread of the connection. Thread-safe. */
final class Confirmation implements ConfirmListener, ReturnListener {
    private static final long LOOK_MILLIS = 50;

    private final Object what;
    private final long number;
    private boolean returned;
    private Answer answer = Answer.NONE;

    /** @param number of the message, as the channel counts them */
    Confirmation(Object what, long number) {
        this.what = what;
        this.number = number;
    }

    /** The broker's answer. */
    enum Answer {
        TAKEN,
        /** It took it, but no queue receives it. */
        RETURNED,
        REFUSED,
        /** It does not answer as long as it blocks the connection. */
        BLOCKED,
        NONE
    }

    /** The message's identity. */
    Object what() {
        return what;
    }

    @Override
    public void handleAck(long last, boolean multiple) {
        answered(last, returned() ? Answer.RETURNED : Answer.TAKEN);
    }

    @Override
    public void handleNack(long last, boolean multiple) {
        answered(last, Answer.REFUSED);
    }

    @Override
    public synchronized void handleReturn(
            int code, String text, String exchange, String key, AMQP.BasicProperties properties, byte[] body)
            throws IOException {
        returned = true;
    }

    private synchronized boolean returned() {
        return returned;
    }

    private synchronized void answered(long last, Answer given) {
        if (last >= number) {
            answer = given;
            notifyAll();
        }
    }

    /** Waits for the answer, but not while the connection is blocked, and not when it is gone. */
    synchronized Answer await(long longestMillis, Blockade blockade, BooleanSupplier alive)
            throws InterruptedException {
        long deadline = System.nanoTime() + longestMillis * 1_000_000;
        while (answer == Answer.NONE && alive.getAsBoolean() && System.nanoTime() < deadline) {
            if (blockade.isUp()) {
                return Answer.BLOCKED;
            }
            wait(LOOK_MILLIS);
        }
        return answer;
    }
}
