package dev.idem.cli.demo;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

/** The consumer's side of the line to the broker. Thread-safe. */
final class Answers {
    private final OutputStream out;
    private final AtomicReference<CrashWindow> armed = new AtomicReference<>(CrashWindow.NONE);

    Answers(OutputStream out) {
        this.out = out;
    }

    /** One write for a line, which a pipe takes whole or not at all. */
    synchronized void send(Answer answer) {
        try {
            out.write((answer.line() + "\n").getBytes(StandardCharsets.UTF_8));
            out.flush();
        } catch (IOException brokerGone) {
            throw new UncheckedIOException(brokerGone);
        }
    }

    /** If the delivery is to die here, says so and waits for the end. */
    void pass(CrashWindow window, Delivery delivery) {
        if (delivery.window() == window) {
            stop(delivery.tag());
        } else {
            pass(window);
        }
    }

    /** Whatever passes this window next has to die there. For brokers whose messages cannot say so. */
    void arm(CrashWindow window) {
        armed.set(window);
    }

    /** If it is armed, says so and waits for the end. */
    void pass(CrashWindow window) {
        if (armed.compareAndSet(window, CrashWindow.NONE)) {
            stop(0);
        }
    }

    private void stop(long tag) {
        send(new Answer.Reached(tag));
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }
}
