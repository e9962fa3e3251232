package dev.idem.jms;

import dev.idem.broker.ListenerState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Sessions that take a queue's messages through an inbox, until they are closed. Thread-safe. */
public final class JmsListener implements AutoCloseable {
    private final List<SessionLoop> loops = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final Duration drain;
    private volatile boolean closing;
    private volatile boolean closed;

    JmsListener(JmsInbox.Builder options) {
        drain = options.drain;
        for (int i = 1; i <= options.sessions; i++) {
            SessionLoop loop = new SessionLoop(options);
            Thread thread = options.threads.newThread(loop);
            thread.setName("idem-jms-" + options.queue + "-" + i);
            loops.add(loop);
            threads.add(thread);
        }
        threads.forEach(Thread::start);
    }

    /** How it is: what the least fortunate of its sessions is. */
    public ListenerState state() {
        if (closed) {
            return ListenerState.CLOSED;
        }
        if (closing) {
            return ListenerState.CLOSING;
        }
        List<ListenerState> states = loops.stream().map(SessionLoop::state).toList();
        for (ListenerState worst : List.of(ListenerState.FAILED, ListenerState.WAITING, ListenerState.STARTING)) {
            if (states.contains(worst)) {
                return worst;
            }
        }
        return ListenerState.RUNNING;
    }

    /** How many messages were settled since it was built, however. */
    public long settled() {
        return loops.stream().mapToLong(SessionLoop::settled).sum();
    }

    /** Closes it, within the time that was set for that. */
    @Override
    public void close() {
        close(drain);
    }

    /**
     * Takes nothing more, lets the handlers that are running end, settles what is done, and leaves the rest to the broker.
     * What has not ended by then is interrupted, and comes again.
     */
    public void close(Duration longest) {
        closing = true;
        long deadline = System.nanoTime() + longest.toNanos();
        loops.forEach(SessionLoop::stop);
        for (Thread thread : threads) {
            join(thread, deadline);
        }
        closed = true;
    }

    private static void join(Thread thread, long deadline) {
        if (thread == Thread.currentThread()) {
            return;
        }
        try {
            thread.join(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
            if (thread.isAlive()) {
                thread.interrupt();
                thread.join(1_000);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }
}
